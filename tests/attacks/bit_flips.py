#!/usr/bin/env python3
"""Flips one bit of a file of a checkpoint: `verify` must find it, and no run may load it.

usage: bit_flips.py [--tries 300] [--program build/bin/mpitron] [--folder DIR] [--seed N]
"""
import random
import shutil
import sys

from attack import TINY, Tally, fresh, must, options, run

SCHEMES = {"one file": (1, []), "file per writer": (2, ["--save-file-per-writer"])}


def words(given, ranks, more):
    program = [given.program, "pretrain-gpt", *TINY, *more]
    return ["mpirun", "-n", ranks, *program] if ranks > 1 else program


def main():
    given = options(__doc__, 300)
    random.seed(given.seed)
    tally = Tally(given, "bit_flips")
    for i in range(given.tries):
        scheme, (ranks, flags) = list(SCHEMES.items())[i % len(SCHEMES)]
        whole, copy = given.folder / scheme.replace(" ", "-"), given.folder / "copy"
        if i < len(SCHEMES):
            fresh(whole)
            must(run(words(given, ranks, ["--train-iters", 4, "--save", "ck", *flags]), whole), f"{scheme}: the run that saves")
        shutil.rmtree(copy, ignore_errors=True)
        shutil.copytree(whole / "ck", copy)
        file = random.choice(sorted(p for p in copy.glob("iter_*/*") if p.is_file()))
        bits, at = bytearray(file.read_bytes()), 0
        at = random.randrange(8 * len(bits))
        bits[at // 8] ^= 1 << (at % 8)
        file.write_bytes(bits)
        place = f"{file.name}, bit {at}"
        outcome = run([given.program, "verify", copy], given.folder)
        tally.tried(f"verify, {scheme}", outcome)
        if outcome.code == 0:
            tally.failed(f"verify, {scheme}", f"missed: {place}", outcome, copy)
        if i % 3 == 0:
            outcome = run(words(given, 1, ["--train-iters", 6, "--load", copy, "--override-opt_param-scheduler"]), given.folder)
            tally.tried(f"load, {scheme}", outcome)
            if outcome.code == 0:
                tally.failed(f"load, {scheme}", f"loaded: {place}", outcome, copy)
    return tally.report()


if __name__ == "__main__":
    sys.exit(main())

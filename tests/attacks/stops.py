#!/usr/bin/env python3
"""Stops one rank (SIGSTOP) at moments from the start of the process on, MPI_Init included: the job ends by itself and says so.

usage: stops.py [--tries 20] [--program build/bin/mpitron] [--folder DIR] [--seed N]

Expected: an end at most five seconds behind --distributed-timeout-minutes, a code other than 0, and one sentence of the program.
"""
import os
import random
import re
import signal
import sys
import time

from attack import TINY, Process, Tally, options

TIMEOUT = 6.0
SENTENCE = re.compile(r"mpitron: (?:error: )?(.*)")


def main():
    given = options(__doc__, 20)
    random.seed(given.seed)
    tally = Tally(given, "stops")
    for i in range(given.tries):
        ranks = 2 + i % 2
        # From the first moments, which MPI_Init takes, over the start to the training.
        delay = [random.uniform(0, 0.02), random.uniform(0.02, 0.15), random.uniform(0.15, 0.6), random.uniform(0.6, 4)][i % 4]
        kind = ["as it begins", "in MPI_Init", "while starting", "in training"][i % 4]
        process = Process(["mpirun", "-n", ranks, given.program, "pretrain-gpt", *TINY, "--global-batch-size", 2 * ranks,
                           "--train-iters", 1000000, "--log-interval", 1000, "--distributed-timeout-minutes", TIMEOUT / 60], given.folder)
        pids = process.ranks(ranks, 120)  # of a busy machine
        time.sleep(delay)
        stopped = random.choice(pids)
        os.kill(stopped, signal.SIGSTOP)
        at = time.monotonic()
        outcome = process.wait((at - process.started + TIMEOUT + 30) / 10)
        lasted = outcome.seconds - (at - process.started)
        tally.tried(kind, outcome)
        try:
            os.kill(stopped, signal.SIGKILL)
        except ProcessLookupError:
            pass
        sentences = SENTENCE.findall(outcome.err)
        print(f"  {kind:16} {ranks} ranks, after {delay:.2f} s: ends {lasted:.1f} s later with code {outcome.code}: "
              f"{sentences[0][:140] if sentences else '-'}", flush=True)
        if outcome.code == 0:
            tally.failed(kind, "ends with code 0", outcome)
        elif outcome.code is not None and lasted > TIMEOUT + 5:
            tally.failed(kind, f"ends {lasted:.1f} s behind the stop", outcome)
        elif not sentences:
            tally.failed(kind, "no sentence", outcome)
        elif len(set(sentences)) > 1:
            tally.failed(kind, f"{len(set(sentences))} sentences", outcome)
    return tally.report()


if __name__ == "__main__":
    sys.exit(main())

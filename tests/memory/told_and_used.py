#!/usr/bin/env python3
"""Holds the memory that `mpitron check` tells against the high-water mark of the allocator in a run, for layouts and precisions.

usage: told_and_used.py [--only bf16] [--program build/bin/mpitron] [--limit 10]

Fails where they are more than `limit` percent apart. Of several ranks the fullest counts, as `check` says.
"""
import argparse
import os
import pathlib
import re
import subprocess
import sys
import tempfile

SIZES = ("--num-layers 4 --hidden-size 256 --num-attention-heads 8 --seq-length 256 --max-position-embeddings 1024 --micro-batch-size 2 "
         "--global-batch-size 8 --lr 1e-3 --train-iters 2 --eval-iters 0 --log-interval 1 --tokenizer-type NullTokenizer "
         "--vocab-size 4095 --mock-data").split()
MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
       "OMPI_MCA_hwloc_base_binding_policy": "none", "OMPI_MCA_mpi_yield_when_idle": "1", "OMP_NUM_THREADS": "1"}
# name: (ranks, options)
RUNS = {
    "fp32": (1, ""),
    "bf16": (1, "--bf16"),
    "recompute, full": (1, "--bf16 --recompute-granularity full --recompute-method uniform --recompute-num-layers 1"),
    "recompute, selective": (1, "--recompute-granularity selective --recompute-modules layernorm mlp"),
    "TP + SP": (2, "--tensor-model-parallel-size 2 --sequence-parallel"),
    "PP": (2, "--bf16 --pipeline-model-parallel-size 2"),
    "PP, interleaved": (2, "--pipeline-model-parallel-size 2 --num-virtual-stages-per-pipeline-rank 2"),
    "CP": (2, "--context-parallel-size 2"),
    "EP": (2, "--num-experts 4 --expert-model-parallel-size 2 --moe-router-topk 2 --disable-bias-linear"),
    "distributed optimizer": (2, "--bf16 --use-distributed-optimizer"),
    "FSDP": (2, "--bf16 --use-distributed-optimizer --use-megatron-fsdp --data-parallel-sharding-strategy optim_grads_params "
                       "--no-gradient-accumulation-fusion --ckpt-format fsdp_dtensor"),
    "long sequence": (1, "--bf16 --seq-length 1024 --micro-batch-size 1 --global-batch-size 1"),
}


def words(more):
    return [*SIZES, *more.split()]


def run(program, folder, parts):
    end = subprocess.run([str(p) for p in parts], cwd=folder, capture_output=True, text=True, env={**os.environ, **MPI}, timeout=900)
    if end.returncode:
        sys.exit(f"{' '.join(map(str, parts))}: code {end.returncode}\n{end.stderr[-2000:]}{end.stdout[-500:]}")
    return end.stdout


def told(program, folder, ranks, more):
    out = run(program, folder, [program, "check", *words(more), "--world-size", ranks, "--no-files"])
    return sum(float(mb) for mb in re.search(r"fullest rank: ([\d.]+) MB .*?, ([\d.]+) MB activations and scratch", out).groups())


def used(program, folder, ranks, more):
    start = ["mpirun", "-n", ranks] if ranks > 1 else []
    out = run(program, folder, [*start, program, "pretrain-gpt", *words(more)])
    return max(float(mb) for mb in re.findall(r"max tensors: ([\d.]+)", out))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--program", type=pathlib.Path, default=pathlib.Path("build/bin/mpitron"))
    parser.add_argument("--only", default="", help="only runs whose name holds this")
    parser.add_argument("--limit", type=float, default=10, help="percent")
    given = parser.parse_args()
    program, wrong = given.program.resolve(), 0
    print(f"{'run':24} {'told MB':>9} {'used MB':>9} {'percent':>8}")
    with tempfile.TemporaryDirectory() as folder:
        for name, row in RUNS.items():
            if given.only in name:
                said, taken = told(program, folder, *row), used(program, folder, *row)
                apart = 100 * (said / taken - 1)
                wrong += abs(apart) > given.limit
                print(f"{name:24} {said:9.1f} {taken:9.1f} {apart:+8.2f}", flush=True)
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())

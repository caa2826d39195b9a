#!/usr/bin/env python3
"""Trains a small GPT with dropout for 100 iterations in several ways and compares the losses, iteration by iteration.

usage: compare.py PROGRAM fp32|bf16

Prints one JSON object: the largest relative difference between the host and the GPU, and whether a second run on the GPU
and one that replays CUDA graphs give the very same losses and gradient norms.  Exit code 1 where one falls short.
"""
import argparse
import json
import os
import subprocess
import sys
import tempfile

ALLOWED = {"fp32": 1e-5, "bf16": 1e-2}
MODEL = ("--num-layers 4 --hidden-size 128 --num-attention-heads 4 --seq-length 64 --max-position-embeddings 64 "
         "--micro-batch-size 2 --global-batch-size 4 --train-iters 100 --lr 1e-3 --min-lr 1e-4 --lr-decay-style cosine "
         "--attention-dropout 0.1 --hidden-dropout 0.1 --clip-grad 1.0 --mock-data --tokenizer-type NullTokenizer "
         "--vocab-size 4223 --eval-iters 0 --log-interval 1").split()
GRAPHS = ["--enable-cuda-graph", "--cuda-graph-scope", "full_iteration"]


def train(program, kind, flags):
    """The loss and the gradient norm of each iteration, as they are written in metrics.jsonl."""
    with tempfile.TemporaryDirectory() as folder:
        words = [program, "pretrain-gpt", *MODEL, "--tensorboard-dir", folder, *([] if kind == "fp32" else ["--" + kind])]
        # The host's part is the longest: it gets more threads than the kit's other programs.
        run = subprocess.run(words + flags, capture_output=True, text=True, check=False, env={**os.environ, "OMP_NUM_THREADS": "6"})
        if run.returncode != 0:
            sys.exit(f"{' '.join(flags)}: exit code {run.returncode}: {(run.stderr or run.stdout)[-2000:]}")
        with open(folder + "/metrics.jsonl", encoding="utf-8") as file:
            rows = [json.loads(line) for line in file]
    return [(row["lm loss"], row["grad-norm"]) for row in rows if "lm loss" in row]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("kind", choices=ALLOWED)
    arguments = parser.parse_args()
    host, gpu, again, graphs = (
        train(arguments.program, arguments.kind, flags)
        for flags in (["--device", "host"], ["--device", "cuda"], ["--device", "cuda"], ["--device", "cuda", *GRAPHS])
    )
    difference = max(abs(a[0] - b[0]) / abs(a[0]) for a, b in zip(host, gpu, strict=True))
    result = {"iterations": len(host), "host_against_gpu": difference, "allowed": ALLOWED[arguments.kind],
              "repeats": gpu == again, "graphs_give_the_same": gpu == graphs}
    print(json.dumps(result))
    return 0 if difference <= result["allowed"] and result["repeats"] and result["graphs_give_the_same"] else 1


if __name__ == "__main__":
    sys.exit(main())

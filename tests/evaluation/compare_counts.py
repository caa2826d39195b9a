#!/usr/bin/env python3
"""Compares figures of `mpitron evaluate` with those of lm-evaluation-harness, question by question. usage: compare_counts.py OURS
FOLDER...  (--output_path of the harness, with --log_samples)"""
import glob
import json
import sys


def samples_of(folder, task):
    """Whether each question was answered rightly, in the order of the documents."""
    (path,) = glob.glob(f"{folder}/**/samples_{task}_here_*.jsonl", recursive=True)
    rows = [json.loads(line) for line in open(path)]
    rows.sort(key=lambda row: row["doc_id"])
    return [int(row["acc"]) for row in rows], [int(row["acc_norm"]) for row in rows]


def main():
    ours, folders = json.load(open(sys.argv[1]))["results"], sys.argv[2:]
    failed = False
    for result in ours:
        for folder in folders:
            acc, norm = samples_of(folder, result["task"])
            same = result["per_example"] == acc and result["number_correct_norm"] == sum(norm)
            failed |= not same
            print(f"{result['task']:12} {folder:10} acc {result['number_correct']} {sum(acc)} acc_norm "
                  f"{result['number_correct_norm']} {sum(norm)} of {len(acc)}: {'equal' if same else 'DIFFERENT'}")
    sys.exit(failed)


main()

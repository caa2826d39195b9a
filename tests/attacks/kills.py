#!/usr/bin/env python3
"""Kills runs at random moments and lets them go on: nothing that was reported as saved may be lost, and nothing may be computed otherwise.

usage: kills.py [--tries 500] [--only async] [--program build/bin/mpitron] [--folder DIR] [--seed N]

Each mode has one run without a kill. Killed runs are started again until they end; every line of an iteration must be that run's, every
start must find the newest checkpoint that was reported, and the last checkpoint must be equal to that run's. Half of the kills of two
ranks hit one of them, and the job must end by itself.
"""
import os
import random
import re
import signal
import sys
import time

from attack import TINY, Process, Tally, fresh, must, options, run

ITERATIONS = 60
SAVED = re.compile(r"successfully saved checkpoint from iteration\s+(\d+) .*to (\S+) \|")
STARTED = re.compile(r"loading checkpoint from \S+ at iteration (\d+)")
LINE = re.compile(r"iteration\s+(\d+)/.*?(\| learning rate:.*)")
LOCAL = ["--non-persistent-save-interval", "2", "--non-persistent-ckpt-type", "local", "--non-persistent-local-ckpt-dir", "local"]
MODES = {
    "synchronous": (1, []),
    "async": (1, ["--async-save"]),
    "async, two ranks": (2, ["--async-save"]),
    "file per writer": (2, ["--async-save", "--save-file-per-writer"]),
    "tensor parallel": (2, ["--tensor-model-parallel-size", "2", "--sequence-parallel"]),
    "distributed optimizer, bf16": (2, ["--use-distributed-optimizer", "--bf16"]),
    "retention": (1, ["--save-keep-last", "2", "--save-keep-optim-last", "1", "--async-save"]),
    "verify-resume": (1, ["--verify-resume"]),
    "short-lived": (1, ["--non-persistent-save-interval", "2", "--non-persistent-ckpt-type", "global"]),
    "local": (1, LOCAL),
    "local, replicated": (2, LOCAL + ["--replication", "--replication-jump", "1"]),
}


class Mode:
    def __init__(self, given, tally, name):
        self.given, self.tally, self.name = given, tally, name
        self.ranks, self.flags = MODES[name]
        self.folder = fresh(given.folder / re.sub(r"\W+", "-", name))
        whole = must(run(self.words("whole"), self.folder), f"{name}: the run without a kill")
        self.lines, self.seconds = dict(LINE.findall(whole.out)), whole.seconds
        self.saved = 0

    def words(self, save):
        program = [self.given.program, "pretrain-gpt", *TINY, "--train-iters", ITERATIONS, "--save-interval", 5, "--save", save,
                   "--load", save, "--allow-random-init", *self.flags]
        if self.ranks > 1:
            return ["mpirun", "-n", self.ranks, *program, "--distributed-timeout-minutes", "0.5"]
        return program

    def kill(self, process, one):
        """Kills everything, or one rank alone; False where the run was over before."""
        if one:
            ranks = process.ranks(self.ranks)
            if len(ranks) < self.ranks:
                return False
            try:
                os.kill(random.choice(ranks), signal.SIGKILL)
            except ProcessLookupError:
                return False
            return True
        if not process.alive():
            return False
        for pid in process.ranks(self.ranks, 0.2) if self.ranks > 1 else []:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        try:
            os.killpg(process.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        return True

    def check(self, outcome, killed):
        """What a run printed must be what the run without a kill printed, from the newest reported checkpoint on."""
        self.tally.peak = max(self.tally.peak, outcome.peak)
        started = [int(n) for n in STARTED.findall(outcome.out)]
        if started and started[-1] < self.saved:
            self.tally.failed(self.name, f"lost: starts from {started[-1]}, {self.saved} was reported", outcome, self.folder)
        if not started and self.saved and LINE.search(outcome.out):
            self.tally.failed(self.name, f"lost: starts anew, {self.saved} was reported", outcome, self.folder)
        for iteration, line in LINE.findall(outcome.out):
            if self.lines.get(iteration) != line:
                self.tally.failed(self.name, f"wrong: iteration {iteration}: {line} and not {self.lines.get(iteration)}", outcome)
                break
        self.saved = max([self.saved, *(int(n) for n, folder in SAVED.findall(outcome.out) if folder == "a")])
        if not killed and outcome.code != 0:
            self.tally.failed(self.name, "not loadable", outcome, self.folder)

    def finish(self):
        """A run that came to its end: its last checkpoint is the other run's."""
        for words in ([self.given.program, "verify", "a"], [self.given.program, "inspect", "a", "whole"]):
            outcome = run(words, self.folder)
            if outcome.code != 0:
                self.tally.failed(self.name, f"wrong: {words[1]} of the last checkpoint", outcome, self.folder)
        fresh(self.folder / "a")
        fresh(self.folder / "local")
        self.saved = 0

    def attack(self, tries):
        kills = 0
        while kills < tries:
            process = Process(self.words("a"), self.folder)
            time.sleep(random.uniform(0, 1.1 * self.seconds))
            one = self.ranks > 1 and kills % 2 == 0
            killed = self.kill(process, one)
            outcome = process.wait(60)
            if outcome.code is None:
                self.tally.failed(self.name, "hangs after the kill of a rank" if one else "hangs", outcome)
            self.check(outcome, killed)
            if killed:
                kills += 1
                self.tally.tried(self.name)
            else:
                self.finish()
        self.finish_whole()

    def finish_whole(self):
        outcome = run(self.words("a"), self.folder)
        self.check(outcome, False)
        self.finish()


def main():
    given = options(__doc__, 500)
    random.seed(given.seed)
    tally = Tally(given, "kills")
    names = [name for name in MODES if given.only in name]
    for i, name in enumerate(names):
        tries = given.tries // len(names) + (1 if i < given.tries % len(names) else 0)
        if tries:
            Mode(given, tally, name).attack(tries)
    return tally.report()


if __name__ == "__main__":
    sys.exit(main())

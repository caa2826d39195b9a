"""What the attack drivers share: runs of the program under limits, and the count of what went wrong.

An attack fails where the program dies by a signal, hangs, takes a gigabyte, calls its own end an internal error, or ends with a code
and without a word. What else must hold says each driver.
"""
import argparse
import collections
import json
import os
import pathlib
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

MEMORY_LIMIT = 1_000_000_000        # bytes of a process
ADDRESS_SPACE = 8_000_000_000       # beyond it an allocation fails, so that this machine survives a failure
CRASHES = {128 + int(s) for s in (signal.SIGABRT, signal.SIGBUS, signal.SIGFPE, signal.SIGILL, signal.SIGSEGV, signal.SIGXFSZ)}

TINY = ("--num-layers 2 --hidden-size 32 --num-attention-heads 4 --seq-length 64 --max-position-embeddings 64 --micro-batch-size 2 "
        "--global-batch-size 4 --lr 1e-3 --log-interval 1 --eval-iters 0 --tokenizer-type NullTokenizer --vocab-size 63 "
        "--mock-data").split()
MPI = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
       "OMPI_MCA_hwloc_base_binding_policy": "none", "OMPI_MCA_mpi_yield_when_idle": "1", "OMP_NUM_THREADS": "1",
       "OMP_WAIT_POLICY": "passive"}


class Outcome:
    """How a run ended; `code` is negative for a signal, None where it did not end in time."""

    def __init__(self, code, seconds, peak, out, err):
        self.code, self.seconds, self.peak, self.out, self.err = code, seconds, peak, out, err

    def trouble(self):
        """What no input may cause; empty for an orderly end, whatever its code."""
        if self.code is None:
            return f"hangs ({self.seconds:.0f} s)"
        if self.code < 0 or self.code in CRASHES:
            return f"signal {-self.code if self.code < 0 else self.code - 128}"
        if self.peak >= MEMORY_LIMIT:
            return f"memory {self.peak / 1e6:.0f} MB"
        if "internal error" in self.err or "invariant broken" in self.err:
            return "internal error: " + self.err.strip()[-200:]
        if self.code != 0 and not (self.err.strip() or self.out.strip()):
            return f"ends with code {self.code} without a word"
        return ""


class Process:
    """A program in a session of its own, with its output in files."""

    def __init__(self, words, folder, environment=None):
        self.out, self.err = tempfile.TemporaryFile(), tempfile.TemporaryFile()
        self.started = time.monotonic()
        limit = lambda: resource.setrlimit(resource.RLIMIT_AS, (ADDRESS_SPACE, ADDRESS_SPACE)) if words[0] != "mpirun" else None
        self.process = subprocess.Popen([str(w) for w in words], cwd=folder, stdin=subprocess.DEVNULL, stdout=self.out, stderr=self.err,
                                        env={**os.environ, **MPI, **(environment or {})}, start_new_session=True, preexec_fn=limit)

    @staticmethod
    def read(file):
        file.seek(0)
        return file.read().decode("utf-8", "replace")

    def wait(self, seconds):
        """Waits so long, in seconds of the processor or ten times as many of the clock; what is left of its session is killed then."""
        code, usage = None, None
        while processor_seconds(self.process.pid) < seconds and time.monotonic() - self.started < 10 * seconds:
            ended, status, usage = os.wait4(self.process.pid, os.WNOHANG)
            if ended:
                code = -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
                break
            time.sleep(0.005)
        lasted = time.monotonic() - self.started
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        if code is None:
            _, _, usage = os.wait4(self.process.pid, 0)
        self.process.returncode = code if code is not None else -9
        return Outcome(code, lasted, usage.ru_maxrss * 1024, self.read(self.out), self.read(self.err))

    def alive(self):
        """Leaves the end to `wait`."""
        return os.waitid(os.P_PID, self.process.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is None

    def ranks(self, count, seconds=10):
        """Process ids of the ranks below mpirun, as soon as there are so many; fewer where it ends before. A child that is still
        mpirun itself is none: stopped there, it would keep mpirun from starting the others."""
        end, found = time.monotonic() + seconds, []
        while time.monotonic() < end and self.alive():
            words = {pid: command(pid) for pid in children(self.process.pid)}
            found = [pid for pid, given in words.items() if "pretrain-gpt" in given and given[0] != "mpirun"]
            if len(found) >= count:
                break
            time.sleep(0.002)
        return found


def processor_seconds(pid):
    try:
        fields = pathlib.Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return 0
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def children(pid):
    try:
        return [int(p) for p in pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
    except OSError:
        return []


def command(pid):
    try:
        return pathlib.Path(f"/proc/{pid}/cmdline").read_text(errors="replace").split("\0")
    except OSError:
        return []


def run(words, folder, seconds=60, environment=None):
    return Process(words, folder, environment).wait(seconds)


class Tally:
    """Counts tries by kind and keeps every failure; the report is printed, and written into the folder as JSON."""

    def __init__(self, options, attack):
        self.options, self.attack = options, attack
        self.tries, self.failures, self.peak, self.began, self.told = collections.Counter(), [], 0, time.time(), 0

    def tried(self, kind, outcome=None, count=1):
        self.tries[kind] += count
        self.tell_progress()
        if outcome is not None:
            self.peak = max(self.peak, outcome.peak)
            if outcome.trouble():
                self.failed(kind, outcome.trouble(), outcome)

    def tell_progress(self):
        """Every half minute: tries so far, their rate, and when the rest is done."""
        seconds, done = time.time() - self.began, sum(self.tries.values())
        if seconds - self.told > 30:
            self.told = seconds
            left = max(0, self.options.tries - done) * seconds / done
            print(f"{self.attack}: {done} tries, {len(self.failures)} failures, {done / seconds:.1f} a second, {left / 60:.0f} min left",
                  file=sys.stderr, flush=True)

    def failed(self, kind, what, outcome=None, keep=None):
        row = {"kind": kind, "what": what, "try": self.tries[kind]}
        if outcome is not None:
            row.update(code=outcome.code, error=outcome.err[-2000:], out=outcome.out[-2000:])
        if keep is not None:
            row["kept"] = str(self.options.folder / "kept" / f"{self.attack}-{len(self.failures)}")
            shutil.copytree(keep, row["kept"], dirs_exist_ok=True)
        self.failures.append(row)
        print(f"FAILED {kind}: {what}", flush=True)

    def report(self):
        rows = {"attack": self.attack, "seed": self.options.seed, "seconds": round(time.time() - self.began),
                "tries": dict(self.tries), "all": sum(self.tries.values()), "largest_memory_mb": round(self.peak / 1e6),
                "failures": self.failures}
        (self.options.folder / f"{self.attack}.json").write_text(json.dumps(rows, indent=1))
        for kind, tries in self.tries.items():
            print(f"  {kind:32} {tries:6} tries, {sum(f['kind'] == kind for f in self.failures)} failures")
        print(f"{self.attack}: {rows['all']} tries, {len(self.failures)} failures, at most {rows['largest_memory_mb']} MB, "
              f"{rows['seconds']} s; seed {self.options.seed}")
        return 1 if self.failures else 0


def options(description, tries):
    """The options of every driver."""
    parser = argparse.ArgumentParser(description=description)
    parser.add_argument("--program", type=pathlib.Path, default=pathlib.Path("build/bin/mpitron"))
    parser.add_argument("--folder", type=pathlib.Path, help="for what is written, and failures; the default is a temporary one")
    parser.add_argument("--tries", type=int, default=tries)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--only", default="", help="only kinds whose name holds this")
    given = parser.parse_args()
    given.program = given.program.resolve()
    if not given.program.exists():
        sys.exit(f"{given.program}: build it first (make program), or name it by --program")
    given.folder = (given.folder or pathlib.Path(tempfile.mkdtemp(prefix="mpitron-attack-"))).resolve()
    given.folder.mkdir(parents=True, exist_ok=True)
    return given


def fresh(folder):
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return folder


def must(outcome, what):
    """For what prepares an attack."""
    if outcome.code != 0:
        sys.exit(f"{what}: code {outcome.code}\n{outcome.err[-2000:]}{outcome.out[-500:]}")
    return outcome

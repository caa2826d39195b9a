#!/usr/bin/env python3
"""Runs the kit's programs task by task, each in a process of its own, and keeps what came out in results.json.

A task that has ended is not run again (--again does), so that a call that ran out of time is continued by the next one.
Exit code: 0 all tasks of the mode passed, 1 some failed, 2 a wrong call, 3 some are left.
"""
import argparse
import concurrent.futures
import glob
import json
import os
import re
import shlex
import signal
import site
import subprocess
import sys
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
RESULTS = os.path.join(HERE, "results.json")
FIRST_RUNS = ("llama", "moe-probs-on-input", "mla", "t5")  # one of each kind of model
LIBRARIES = ("libcublasLt.so.13", "libcudnn.so.9", "libnccl.so.2", "libcudart.so.13")
PEERS = ("gpt2-124m", "llama-1.3b", "llama-7b")
STEPS = PEERS + ("llama-7b-fp8",)


def folders_of_libraries():
    """Where CUDA's libraries lie that the system's linker does not know: the toolkit, or Python packages."""
    known = subprocess.run(["/sbin/ldconfig", "-p"], capture_output=True, text=True, check=False).stdout
    places = ["/usr/local/cuda/lib64"] + glob.glob("/usr/local/cuda-*/lib64")
    for packages in site.getsitepackages() + [site.getusersitepackages()]:
        places += glob.glob(packages + "/nvidia/*/lib")
    found = {}
    for library in LIBRARIES:
        if library in known:
            found[library] = "the system"
        for place in places:
            if library not in found and os.path.exists(os.path.join(place, library)):
                found[library] = place
    return found


def environment(found):
    folders = [os.path.join(HERE, "lib")] + sorted({place for place in found.values() if os.path.isdir(place)})
    before = os.environ.get("LD_LIBRARY_PATH")
    path = ":".join(folders + ([before] if before else []))
    return {**os.environ, "LD_LIBRARY_PATH": path, "OMP_WAIT_POLICY": "passive"}


class Task:
    """One process: `name` (its key in the results), what it runs, how long it may take, and how its output is read."""

    def __init__(self, name, words, limit, read, share=1):
        self.name, self.words, self.limit, self.read, self.share = name, words, limit, read, share


def program(name):
    return os.path.join(HERE, "bin", name)


def share_of(error, allowed):
    """What of the allowed error is used; where bits have to be equal, 0 or infinity."""
    return error / allowed if allowed > 0 else 0.0 if error == 0 else float("inf")


def read_test(output, log):
    """The kernel that was launched last, and the largest error of each kernel beside what is allowed."""
    result, errors = {}, {}
    for line in log.splitlines():
        word, _, rest = line.partition(" ")
        if word == "launch":
            result["last_launch"] = rest
        elif word == "error":
            kernel, _, numbers = rest.partition(": ")
            error, allowed = map(float, numbers.split())
            if kernel not in errors or share_of(error, allowed) >= share_of(*errors[kernel]):
                errors[kernel] = (error, allowed)
    if errors:
        result["errors"] = errors
    if "[  SKIPPED ]" in output or "no GPU here" in output:
        result["skipped"] = True
    return result


def read_replay(output, _):
    for line in output.splitlines():
        if line.startswith("{") and '"max_rel_loss"' in line:
            return json.loads(line)
    return {}


def read_comparison(output, _):
    line = output.strip().splitlines()[-1] if output.strip() else ""
    return json.loads(line) if line.startswith("{") else {}


def kernel_tests(env, first_only):
    listing = subprocess.run([program("kernels_gpu_test"), "--gtest_list_tests"], env=env, capture_output=True, text=True,
                             timeout=60, check=False)
    if listing.returncode != 0:
        sys.exit("kernels_gpu_test does not start: " + (listing.stderr or listing.stdout).strip())
    tasks, suite, taken = [], "", set()
    for line in listing.stdout.splitlines():
        if line and not line.startswith(" "):
            suite = line.split()[0]
        elif line.strip():
            family = suite.split("/")[-1].rstrip(".")
            if "DISABLED_" in suite + line or (first_only and family in taken):
                continue
            taken.add(family)
            name = suite + line.split()[0]
            tasks.append(Task("test " + name, [program("kernels_gpu_test"), "--gtest_filter=" + name],
                              90, read_test))
    return tasks


def recorded_runs(first_only, flags):
    cases = sorted(os.path.basename(case) for case in glob.glob(os.path.join(HERE, "data", "curves", "*")))
    if first_only:
        cases = [case for case in FIRST_RUNS if case in cases]
    return [Task("run " + case, [program("mpitron-cuda"), "replay", os.path.join(HERE, "data", "curves", case), "--json",
                                 "--device", "cuda"] + flags, 240, read_replay, 2) for case in cases]


def comparisons():
    """Host against GPU, a run against its repetition and against one from CUDA graphs."""
    return [Task("compare " + kind, [sys.executable, os.path.join(HERE, "compare.py"), program("mpitron-cuda"), kind], 240,
                 read_comparison, 2) for kind in ("fp32", "bf16")]


def benchmarks():
    """In the order of their worth: whole steps, the same in PyTorch, attention, what memory limits, products."""
    words = [("step " + step, [program("gpu_step_bench"), "--profile", step, "--", "--tuning-file", os.path.join(HERE, "tuning.json")])
             for step in STEPS]
    words += [("peer " + step, [sys.executable, os.path.join(HERE, "peer.py"), step]) for step in PEERS]
    words += [(name, [program(name)]) for name in ("gpu_attention_bench", "memory_kernels_bench")]
    tasks = []
    for name, command in words:
        summary = os.path.join(HERE, "bench-" + name.replace(" ", "-") + ".json")

        def read(_, __, summary=summary):
            with open(summary, encoding="utf-8") as file:
                return {"figures": json.load(file)}
        tasks.append(Task("bench " + name, command + ["--summary", summary], 500, read, 1000))
    return tasks


class Runner:
    """Runs tasks beside each other until the time is over."""

    def __init__(self, arguments, env, results):
        self.arguments, self.env, self.results = arguments, env, results
        self.end = time.monotonic() + 60 * arguments.minutes - 10
        self.lock = threading.Lock()
        self.done = 0

    def keep(self):
        with open(RESULTS + ".new", "w", encoding="utf-8") as file:
            json.dump(self.results, file, indent=1, sort_keys=True)
            file.write("\n")
        os.replace(RESULTS + ".new", RESULTS)

    def run_task(self, task):
        left = self.end - time.monotonic()
        if left < 5:
            return
        log_path = os.path.join(HERE, f"log-{os.getpid()}-{threading.get_ident()}.txt")
        begin = time.monotonic()
        threads = min(2 * task.share, self.arguments.jobs)  # a task that runs alone draws its model's values with all
        env = {**self.env, "MPITRON_TEST_LOG": log_path, "OMP_NUM_THREADS": str(threads)}
        with subprocess.Popen(shlex.split(self.arguments.under) + task.words, env=env,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace",
                              start_new_session=True) as process:
            try:
                output, _ = process.communicate(timeout=min(left, task.limit))
                status = "passed" if process.returncode == 0 else f"failed, exit code {process.returncode}"
            except subprocess.TimeoutExpired:
                os.killpg(process.pid, signal.SIGKILL)
                output, _ = process.communicate()
                status = f"failed, stopped after {task.limit} s" if left > task.limit else None
        log = ""
        if os.path.exists(log_path):
            with open(log_path, encoding="utf-8") as file:
                log = file.read()
            os.remove(log_path)
        if status is None:
            return  # the time is over: the next call runs it again
        try:
            result = task.read(output, log)
        except (OSError, ValueError) as error:
            result = {"unread": str(error)}
        result.update(status=status, seconds=round(time.monotonic() - begin, 2))
        if status == "passed" and result.pop("skipped", False):
            result["status"] = "skipped"
        if result["status"] != "passed" or task.share >= 1000:
            result["output"] = output[-20000:]
        if result["status"] == "passed":
            result.pop("last_launch", None)
        with self.lock:
            self.results["tasks"][task.name] = result
            self.done += 1
            self.keep()
            if result["status"] != "passed":
                print(f"{task.name}: {result['status']} {result.get('last_launch', '')}", flush=True)

    def run_all(self, tasks):
        begun = time.monotonic()
        for share in sorted({task.share for task in tasks}):
            group = [task for task in tasks if task.share == share]
            workers = max(1, self.arguments.jobs // share)
            with concurrent.futures.ThreadPoolExecutor(workers) as pool:
                for _ in pool.map(self.run_task, group):
                    rate = self.done / max(time.monotonic() - begun, 1e-9)
                    print(f"\r{self.done} of {len(tasks)} tasks, {rate:.1f}/s, "
                          f"{max(0, len(tasks) - self.done) / max(rate, 1e-9):.0f} s left ", end="", file=sys.stderr)
        print(file=sys.stderr)


def table(tasks, results):
    """One line for each kernel family, recorded run and figure."""
    families, lines, failed = {}, [], []
    for task in tasks:
        result = results["tasks"].get(task.name)
        if result is None:
            continue
        if result["status"] not in ("passed", "skipped"):
            failed.append(task.name)
        if task.name.startswith("test "):
            family = re.sub(r"^.*/", "", task.name[5:].rpartition(".")[0].split("/")[-1])
            entry = families.setdefault(family, [0, 0, 0.0])
            entry[0] += result["status"] == "passed"
            entry[1] += 1
            for error, allowed in result.get("errors", {}).values():
                entry[2] = max(entry[2], share_of(error, allowed))
        elif task.name.startswith("run "):
            lines.append(f"{task.name[4:]:<32} {result['status']:<28} loss {result.get('max_rel_loss', float('nan')):.1e}"
                         f"  norm {result.get('max_rel_grad_norm', float('nan')):.1e}")
        elif task.name.startswith("compare "):
            lines.append(f"{task.name:<32} {result['status']:<28} host against GPU "
                         f"{result.get('host_against_gpu', float('nan')):.1e}  repeats {result.get('repeats')}"
                         f"  graphs the same {result.get('graphs_give_the_same')}")
        else:
            for figure in result.get("figures", []):
                goal = f"  goal {figure['goal']:g}" if figure.get("goal") is not None else ""
                lines.append(f"{figure['name']:<48} {figure['value']:>12.4g} {figure.get('unit', ''):<10}{goal}")
    for family, (passed, count, worst) in sorted(families.items()):
        lines.insert(0, f"{family:<32} {passed:>4} of {count:<4} passed   largest error {worst:.2f} of what is allowed")
    return lines + [f"FAILED {name}" for name in failed], failed


def machine():
    query = "--query-gpu=name,driver_version,memory.total,clocks.max.sm,power.limit"
    try:
        words = ["nvidia-smi", query, "--format=csv,noheader"]
        return subprocess.run(words, capture_output=True, text=True, timeout=60, check=True).stdout.strip()
    except (OSError, subprocess.SubprocessError) as error:
        return f"nvidia-smi does not answer: {error}"


def parse():
    parser = argparse.ArgumentParser(prog="run.sh", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("mode", choices=("smoke", "test", "bench"))
    parser.add_argument("--minutes", type=float, default=9, help="end before this time is over (default 9)")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes at once (default: the cores)")
    parser.add_argument("--again", action="store_true", help="run what has ended, too")
    parser.add_argument("--under", default="", help='run each program under this, e.g. "compute-sanitizer --tool racecheck"')
    parser.add_argument("--flags", default="", help='more flags of recorded runs, e.g. "--attention-kernel mma"')
    return parser.parse_args()


def main():
    arguments = parse()
    found = folders_of_libraries()
    env = environment(found)
    results = {"tasks": {}}
    if os.path.exists(RESULTS):
        with open(RESULTS, encoding="utf-8") as file:
            results = json.load(file)
    results["machine"], results["libraries"] = machine(), found
    print(results["machine"])
    for library in LIBRARIES:
        print(f"{library}: {found.get(library, 'not found')}")
    flags = shlex.split(arguments.flags)
    if arguments.mode == "bench":
        tasks = benchmarks()
    else:
        first_only = arguments.mode == "smoke"
        tasks = kernel_tests(env, first_only) + recorded_runs(first_only, flags) + ([] if first_only else comparisons())
    todo = [task for task in tasks if arguments.again or task.name not in results["tasks"]]
    for task in todo:
        results["tasks"].pop(task.name, None)
    Runner(arguments, env, results).run_all(todo)
    lines, failed = table(tasks, results)
    left = [task.name for task in tasks if task.name not in results["tasks"]]
    print("\n".join(lines))
    print(f"{arguments.mode}: {len(tasks) - len(left) - len(failed)} of {len(tasks)} passed, {len(failed)} failed, "
          f"{len(left)} left" + (" (call again to go on)" if left else "") + f"; {RESULTS}")
    return 1 if failed else 3 if left else 0


if __name__ == "__main__":
    sys.exit(main())

#!/usr/bin/env python3
"""Tests benchmarks/gpu_kit/run.py with programs that pretend to be the kit's."""
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "benchmarks", "gpu_kit")

TESTS = """#!/usr/bin/env bash
if [ "$1" = --gtest_list_tests ]; then
  printf 'Types/Scale.\\n  Odd/0  # f32\\n  Odd/1\\nNorm.\\n  Wide\\n  DISABLED_Bits\\nSlow.\\n  Hangs\\n'
  exit
fi
printf 'launch scale: x fp32[3] at 0x1\\n' >>"$MPITRON_TEST_LOG"
case $1 in
  *Norm.Wide) printf 'launch norm: x bf16[4, 5] at 0x2\\n' >>"$MPITRON_TEST_LOG"; kill -SEGV $$ ;;
  *Slow.Hangs) [ -z "${KIT_HANGS:-}" ] || sleep 600 ;;
  *) printf 'error scale: 2.0e-07 1.0e-06\\nerror copy: 0 0\\n' >>"$MPITRON_TEST_LOG" ;;
esac
"""
PROGRAM = """#!/usr/bin/env bash
printf '{"case": "llama", "pass": true, "iterations": 3, "max_rel_loss": 1e-6, "max_rel_grad_norm": 2e-6, "max_abs_logits": 0}\\n'
case "$*" in *"--attention-kernel mma"*) exit 1 ;; esac
"""
BENCH = """#!/usr/bin/env bash
printf '[{"name": "%s", "value": 0.5, "unit": "ratio", "goal": 0.55}]\\n' "$(basename "$0")" >"${!#}"
"""
SCRIPTS = {  # what the scripts beside run.py are called with comes last
    "compare.py": """import sys
print('{"host_against_gpu": 1e-07, "repeats": true, "graphs_give_the_same": %s}' % str(sys.argv[-1] == "fp32").lower())
sys.exit(sys.argv[-1] != "fp32")
""",
    "peer.py": """import sys
with open(sys.argv[-1], "w") as file:
    file.write('[{"name": "peer", "value": 0.25}]')
""",
}


class Kit(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp()
        self.addCleanup(shutil.rmtree, self.folder)
        for name in ("run.sh", "run.py"):
            shutil.copy(os.path.join(SOURCE, name), self.folder)
        for name, text in SCRIPTS.items():
            with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
                file.write(text)
        os.makedirs(os.path.join(self.folder, "data", "curves", "llama"))
        os.makedirs(os.path.join(self.folder, "bin"))
        benches = ("gpu_step_bench", "gpu_attention_bench", "memory_kernels_bench")
        for name, text in [("kernels_gpu_test", TESTS), ("mpitron-cuda", PROGRAM)] + [(bench, BENCH) for bench in benches]:
            path = os.path.join(self.folder, "bin", name)
            with open(path, "w", encoding="utf-8") as file:
                file.write(text)
            os.chmod(path, 0o755)

    def call(self, *words, **more):
        return subprocess.run([os.path.join(self.folder, "run.sh"), *words], capture_output=True, text=True, check=False,
                              env={**os.environ, **more})

    def tasks(self):
        with open(os.path.join(self.folder, "results.json"), encoding="utf-8") as file:
            return json.load(file)["tasks"]

    def test_failed_kernel_is_named_and_the_others_run(self):
        done = self.call("test", "--minutes", "1")
        self.assertEqual(done.returncode, 1, done.stdout + done.stderr)
        self.assertEqual(sorted(self.tasks()), ["compare bf16", "compare fp32", "run llama", "test Norm.Wide", "test Slow.Hangs", "test Types/Scale.Odd/0",
                                                "test Types/Scale.Odd/1"])
        self.assertEqual(self.tasks()["test Norm.Wide"]["last_launch"], "norm: x bf16[4, 5] at 0x2")
        self.assertIn("largest error 0.20 of what is allowed", done.stdout)

    def test_comparisons_are_told_and_judged(self):
        done = self.call("test", "--minutes", "1")
        self.assertIn("host against GPU 1.0e-07  repeats True  graphs the same False", done.stdout)
        self.assertEqual(self.tasks()["compare fp32"]["status"], "passed")
        self.assertIn("FAILED compare bf16", done.stdout)

    def test_what_is_left_is_run_by_the_next_call(self):
        first = self.call("test", "--minutes", "0.3", KIT_HANGS="1")
        self.assertEqual(first.returncode, 1, first.stdout)
        self.assertNotIn("test Slow.Hangs", self.tasks())
        before = self.tasks()["test Types/Scale.Odd/0"]
        second = self.call("test", "--minutes", "1")
        self.assertIn("0 left", second.stdout)
        self.assertEqual(self.tasks()["test Types/Scale.Odd/0"], before)

    def test_smoke_takes_one_test_of_each_family(self):
        self.call("smoke", "--minutes", "1")
        self.assertNotIn("test Types/Scale.Odd/1", self.tasks())

    def test_flags_reach_recorded_runs(self):
        self.call("smoke", "--minutes", "1", "--flags", "--attention-kernel mma")
        self.assertIn("exit code 1", self.tasks()["run llama"]["status"])

    def test_bench_collects_figures(self):
        done = self.call("bench", "--minutes", "1")
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("goal 0.55", done.stdout)

    def test_wrong_call(self):
        self.assertEqual(self.call("fast").returncode, 2)


if __name__ == "__main__":
    sys.exit(unittest.main())

#!/usr/bin/env bash
# tests/run.sh BUILD JOBS REGEX: every test whose name matches. Tests that fail beside others (a machine may be too busy for a
# process with a deadline) run once more, each alone; they count by that run, and are named so that none of it is hidden.
set -uo pipefail
build=$1 jobs=$2 tests=$3
failed_log=$build/Testing/Temporary/LastTestsFailed.log

rm -f "$failed_log"
ctest --test-dir "$build" -j "$jobs" --output-on-failure --no-label-summary -R "$tests" && exit
[ -s "$failed_log" ] || exit 1
failed=$(cut -d: -f2 "$failed_log")
printf '\n== test: these failed beside others and run again, each alone:\n%s\n' "$failed"
ctest --test-dir "$build" -j 1 --rerun-failed --output-on-failure --no-label-summary || exit
printf '\n== test: passed only when alone (a defect of these tests, or a busy machine):\n%s\n' "$failed"

#!/usr/bin/env bash
# Tests and benchmarks of mpitron on this machine's GPU: see README.md beside this script.
# usage: run.sh smoke|test|bench [--minutes N] [--jobs N] [--again] [--under COMMAND] [--flags "FLAGS"]
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
exec python3 "$here/run.py" "$@"

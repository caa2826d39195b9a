#!/usr/bin/env bash
# Runs every benchmark program of a build tree, one after the other, and merges their figures.
# usage: run.sh BUILD_DIR [REGEX of program names]     -> BUILD_DIR/bench/summary.json and a table on the terminal
# A program writes its figures to the file after --summary: [{name, value, unit, goal, higher_is_better, limit, peer}, ...]
set -uo pipefail
build=$1
wanted=${2:-.}
out=$build/bench
mkdir -p "$out"
status=0
figures=()
for program in "$build"/bin/*_bench; do
  name=$(basename "$program")
  [[ -x $program && $name =~ $wanted ]] || continue
  printf '\n-- %s\n' "$name"
  rm -f "$out/$name.json"
  if "$program" --summary "$out/$name.json" && [ -s "$out/$name.json" ]; then
    figures+=("$out/$name.json")
  else
    printf 'bench: %s failed (exit code %s)\n' "$name" "$?" >&2
    status=1
  fi
done
printf '\n'
"$build/bin/merge_summaries" "$out/summary.json" "${figures[@]}" || status=1
exit $status

#!/usr/bin/env bash
# Writes the seven files of a new op from cmake/templates/op; docs/how-to/add-an-op.md says what to do with them.
# usage: new-op.sh NAME [TOPIC]      (snake_case, for instance soft_cap elementwise; TOPIC is a folder of src/ops, elementwise if absent)
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
name=${1:-}
topic=${2:-elementwise}
if ! [[ $name =~ ^[a-z][a-z0-9]*(_[a-z0-9]+)*$ ]]; then
  printf 'new-op: NAME must be snake_case, for instance: make new-op NAME=soft_cap (given: "%s")\n' "$name" >&2
  exit 2
fi
camel=$(sed -E 's/(^|_)([a-z0-9])/\U\2/g' <<<"$name")

declare -A files=(
  [kernel.h]=kernels/$topic/$name.h [reference.cpp]=kernels/reference/$topic/$name.cpp [host.cpp]=kernels/host/$topic/$name.cpp
  [cuda.cu]=kernels/cuda/$topic/$name.cu [op.h]=src/ops/$topic/$name.h [op.cpp]=src/ops/$topic/$name.cpp [op_test.cpp]=tests/ops/$topic/${name}_test.cpp)
for path in "${files[@]}"; do
  if [ -e "$path" ]; then
    printf 'new-op: %s is there already\n' "$path" >&2
    exit 2
  fi
done
for template in "${!files[@]}"; do
  path=${files[$template]}
  mkdir -p "$(dirname "$path")"
  sed "s/@name@/$name/g; s/@Name@/$camel/g; s/@topic@/$topic/g" "cmake/templates/op/$template.in" >"$path"
  printf 'new-op: %s\n' "$path"
done
command -v clang-format-14 >/dev/null && clang-format-14 -i "${files[@]}"
printf 'new-op: next: docs/how-to/add-an-op.md\n'

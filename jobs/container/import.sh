#!/usr/bin/env bash
# An image of the local Docker daemon as a file for pyxis. usage: import.sh [IMAGE [FILE]]     (mpitron, mpitron.sqsh)
# Where all nodes can read it, once; then: MPITRON_CONTAINER=$PWD/mpitron.sqsh sbatch jobs/train/...
set -euo pipefail
image=${1:-mpitron}
file=${2:-$image.sqsh}
command -v enroot >/dev/null || {
  printf 'import: there is no enroot: pyxis needs it on the nodes, and this script here\n' >&2
  exit 3
}
[ ! -e "$file" ] || {
  printf 'import: %s is there already: remove it, or name another file\n' "$file" >&2
  exit 2
}
enroot import --output "$file" "dockerd://$image"
printf 'MPITRON_CONTAINER=%s\n' "$(realpath "$file")"

#!/usr/bin/env bash
# Installs into a folder of its own, uses what was installed from elsewhere, and removes it again.
# usage: install_test.sh BUILD
set -euo pipefail
build=$(cd "$1" && pwd)
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
prefix=$(mktemp -d)
trap 'rm -rf "$prefix"' EXIT
fail() { printf 'install_test: %s\n' "$*" >&2; exit 1; }

before=$(cat "$build/install_manifest.txt" 2>/dev/null || true)
cmake --install "$build" --prefix "$prefix" >/dev/null
for file in bin/mpitron share/man/man1/mpitron.1 share/man/man1/mpitron-pretrain-gpt.1 share/bash-completion/completions/mpitron \
  share/zsh/site-functions/_mpitron share/mpitron/jobs/launch.sh share/mpitron/jobs/clusters/generic.sh \
  share/doc/mpitron/LICENSE share/doc/mpitron/how-to/install.md; do
  [ -s "$prefix/$file" ] || fail "$file is missing"
done
cd /
script=$("$prefix/bin/mpitron" job write --cluster local --world-size 1 --ranks-per-node 1 --num-layers 2 --hidden-size 64 \
  --num-attention-heads 4 --seq-length 64 --max-position-embeddings 64 --micro-batch-size 4 --train-iters 1 --lr 1e-3 \
  --tokenizer-type NullTokenizer --vocab-size 255 --mock-data --save "$prefix/run")
case $script in *"home=$prefix/share/mpitron"*) ;; *) fail 'job write does not find the installed jobs' ;; esac
[ -s "$build/install_manifest.txt" ] || fail "no install_manifest.txt in $build"
mv "$build/install_manifest.txt" "$prefix.manifest"
bash "$source/packaging/uninstall.sh" "$prefix.manifest" "$prefix" >/dev/null
rm -f "$prefix.manifest"
[ -z "$before" ] || printf '%s\n' "$before" >"$build/install_manifest.txt"
left=$(find "$prefix" -type f | head -3)
[ -z "$left" ] || fail "uninstall left $left"

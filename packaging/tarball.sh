#!/usr/bin/env bash
# Writes BUILD/mpitron-VERSION-ARCH.tar.gz: the installed tree with the libraries that the program needs, found beside it. It runs from
# any folder of a machine with the same or a newer C library; several ranks need Open MPI's mpirun there.
# usage: tarball.sh BUILD
set -euo pipefail
build=$(cd "$1" && pwd)
version=$("$build/bin/mpitron" --version | sed 's/^mpitron \([^ ]*\).*/\1/')
name=mpitron-$version-$(uname -m)
stage=$(mktemp -d)
trap 'rm -rf "$stage"' EXIT
cmake --install "$build" --prefix "$stage/$name" --strip >/dev/null
mkdir -p "$stage/$name/lib/mpitron"
# The C library and the loader are the machine's own; all else comes along.
ldd "$stage/$name/bin/mpitron" | awk '$2 == "=>" && $3 ~ /^\// { print $3 }' |
  grep -vE '/(libc|libm|libdl|libpthread|librt|libresolv|ld-linux[^/]*)\.so' | xargs -I{} cp -L {} "$stage/$name/lib/mpitron/"
tar -C "$stage" -czf "$build/$name.tar.gz" "$name"
printf 'tarball: %s (%s)\n' "$build/$name.tar.gz" "$(du -h "$build/$name.tar.gz" | cut -f1)"

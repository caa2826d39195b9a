#!/usr/bin/env bash
# Whether the images install every library that the program needs: the package of each is in the lists of the Dockerfile and of the
# Apptainer definition, or in every Debian. Exit code 77 where there is no dpkg to ask.
# usage: check_libraries.sh PROGRAM
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
command -v dpkg-query >/dev/null || exit 77
wrong=0
while read -r library path; do
  file=$(readlink -f "$path")
  # Old packages say /lib, where /usr/lib is meant.
  package=$(dpkg-query -S "$file" 2>/dev/null || dpkg-query -S "${file#/usr}" 2>/dev/null || true)
  package=${package%%:*}
  case $package in
    libc6 | libgcc-s1 | libstdc++6) continue ;;
    '') printf '%s: no package holds it (%s)\n' "$library" "$path" && continue ;;
  esac
  for list in "$here/../jobs/container/Dockerfile" "$here/mpitron.def"; do
    if ! grep -qE "(^|[[:space:]])${package//+/\\+}([[:space:]]|\\\\|\$)" "$list"; then
      printf '%s: %s is missing (for %s)\n' "${list##*/}" "$package" "$library" >&2
      wrong=1
    fi
  done
done < <(objdump -p "$1" | awk '/NEEDED/ { print $2 }' | while read -r library; do
  ldd "$1" | awk -v l="$library" '$1 == l && $3 ~ /^\// { print l, $3 }'
done)
exit "$wrong"

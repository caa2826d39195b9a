#!/usr/bin/env bash
# Removes what `cmake --install` has copied, and folders of this program that are empty then.
# usage: uninstall.sh MANIFEST PREFIX
set -euo pipefail
manifest=$1 prefix=$2
[ -s "$manifest" ] || { printf 'uninstall: there is no %s: nothing was installed from this build\n' "$manifest" >&2; exit 3; }
while IFS= read -r file || [ -n "$file" ]; do
  case $file in
    "$prefix"/*) rm -f -- "$file" ;;
    *) printf 'uninstall: %s is not below %s: left where it is (give the PREFIX of the installation)\n' "$file" "$prefix" >&2; exit 2 ;;
  esac
done <"$manifest"
for folder in "$prefix/share/mpitron" "$prefix/share/doc/mpitron"; do
  [ ! -d "$folder" ] || find "$folder" -depth -type d -empty -delete
done
printf 'uninstall: %s files are gone\n' "$(grep -c . "$manifest")"

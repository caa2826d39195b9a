#!/usr/bin/env bash
# Installs what a build needs and the machine lacks: Debian packages by name, and Kokkos with OpenMP into a private folder.
# usage: deps.sh            install what is missing (root or sudo); a second call changes nothing and takes no time
#        deps.sh --list     print the package names only
# Kokkos: Debian packages it without OpenMP only, so packages/kokkos of Debian's trilinos source package is built, unless a Kokkos
# with OpenMP is there already (Kokkos_ROOT, CMAKE_PREFIX_PATH, the system). The prefix lives in the user's cache folder, keyed by
# version and compiler, and cmake/MpitronKokkos.cmake finds it there. apt's own configuration and lists are not touched.
set -euo pipefail

tools=(g++ make cmake ninja-build ccache git clang-format-14 clang-tidy-14 shellcheck python3-minimal libpython3-stdlib ca-certificates)
libraries=(libopenmpi-dev openmpi-bin libhwloc-dev libhdf5-openmpi-dev libdnnl-dev libfmt-dev libspdlog-dev libcli11-dev
  nlohmann-json3-dev libsimdjson-dev libyaml-cpp-dev libpcre2-dev libutf8proc-dev libgtest-dev libgmock-dev libbenchmark-dev
  librapidcheck-dev libboost-dev libboost-context-dev libxxhash-dev zlib1g-dev libzstd-dev
  libjpeg62-turbo-dev libpng-dev libwebp-dev)
pages=(libjs-chart.js)   # read by `mpitron report` when it writes a page
tests=(hdf5-tools python3-h5py sentencepiece)   # other programs for the same formats: the tests that compare with them are skipped without
packages=("${tools[@]}" "${libraries[@]}" "${pages[@]}" "${tests[@]}")

kokkos_version=3.4.1
kokkos_source=trilinos=13.2.0-4
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
cache=${XDG_CACHE_HOME:-${HOME:-}/.cache}/mpitron
log=$cache/deps.log   # not in /tmp, where others can make the file first

say() { printf 'deps: %s\n' "$*"; }
fail() {
  printf 'deps: error: %s\n' "$*" >&2
  exit 3
}

missing_packages() {
  local installed
  installed=$(dpkg-query -W -f='${Package} ${db:Status-Status}\n' "${packages[@]}" 2>/dev/null | sed -n 's/ installed$//p' || true)
  printf '%s\n' "${packages[@]}" | grep -vxF -f <(printf '%s\n' "$installed") || true
}

install_packages() {
  local missing root=()
  if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
    say "no apt here: provide these by your own means (CMake says which one it cannot find): ${packages[*]}"
    return
  fi
  mapfile -t missing < <(missing_packages)
  [ ${#missing[@]} -eq 0 ] && return
  if [ -z "$(apt-get --print-uris update 2>/dev/null)" ]; then
    fail "packages are missing and apt has no package source (sources.list and sources.list.d of /etc/apt are empty): name a mirror of this release there, or install by other means: ${missing[*]}"
  fi
  if [ "$(id -u)" -ne 0 ]; then
    command -v sudo >/dev/null || fail "packages are missing and this is neither root nor is there sudo. As root: apt-get install ${missing[*]}"
    sudo env true || fail "packages are missing and sudo refuses. As root: apt-get install ${missing[*]}"
    root=(sudo)
  fi
  say "installing ${#missing[@]} packages with apt: ${missing[*]}"
  mkdir -p "$cache" || fail "cannot write the cache folder $cache: set XDG_CACHE_HOME to a folder of yours"
  local install=("${root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends "${missing[@]}")
  if ! "${install[@]}" >"$log" 2>&1; then
    say "package lists are missing or old: apt-get update, then once more"
    "${root[@]}" apt-get update -qq >>"$log" 2>&1 || true
    "${install[@]}" >>"$log" 2>&1 || { tail -15 "$log" >&2; fail "apt-get could not install: ${missing[*]}"; }
  fi
}

compiler_key() {
  local cxx=${CXX:-c++}
  if "$cxx" --version | head -1 | grep -qi clang; then
    echo "clang-$("$cxx" -dumpversion)"
  else
    echo "gnu-$("$cxx" -dumpfullversion)"
  fi
}

# A Kokkos that the site provides: asks the same CMake code that the build uses, and remembers a positive answer.
site_kokkos() {
  local note=$cache/kokkos-site-$key
  if [ -s "$note" ] && [ -e "$(cat "$note")/KokkosConfig.cmake" ]; then
    return 0
  fi
  local found
  found=$(cmake -DCMAKE_CXX_COMPILER_ID=none -P "$here/MpitronKokkos.cmake" 2>&1 | sed -n 's/^-- MPITRON_KOKKOS_DIR=//p')
  [ -n "$found" ] || return 1
  say "using the Kokkos of $found"
  mkdir -p "$cache"
  echo "$found" >"$note"
}

# apt's entries as deb-src entries in a private folder: deb822 files may hold several stanzas, each with its own Types.
copy_source_entries() {
  local into=$1 etc=${APT_CONFIG_DIR:-/etc/apt} file
  mkdir -p "$into"
  for file in "$etc"/sources.list.d/*.sources; do
    [ -e "$file" ] && sed 's/^[Tt]ypes:.*/Types: deb-src/' "$file" >"$into/$(basename "$file")"
  done
  for file in "$etc/sources.list" "$etc"/sources.list.d/*.list; do
    [ -s "$file" ] && sed -nE 's/^[[:space:]]*deb(-src)?[[:space:]]/deb-src /p' "$file" | sort -u >"$into/$(basename "$file" .list).list"
  done
  find "$into" -size 0 -delete
  [ -n "$(ls -A "$into")" ] || fail "apt has no package source on this machine, so Kokkos' source cannot be fetched: set Kokkos_ROOT to a Kokkos with OpenMP"
}

fetch_kokkos_source() {
  local work=$1
  copy_source_entries "$work/apt/parts"
  mkdir -p "$work/apt/lists/partial" "$work/apt/cache/archives/partial" "$work/source"
  local apt=(apt-get -q -o Dir::Etc::sourcelist=/dev/null -o "Dir::Etc::sourceparts=$work/apt/parts"
    -o "Dir::State::lists=$work/apt/lists" -o "Dir::Cache=$work/apt/cache" -o "APT::Sandbox::User=$(id -un)")
  "${apt[@]}" update >>"$log" 2>&1 || say "warning: some package lists could not be read (details: $log)"
  (cd "$work/source" && "${apt[@]}" source --download-only "$kokkos_source") >>"$log" 2>&1 ||
    { tail -5 "$log" >&2; fail "cannot fetch Debian's source package $kokkos_source: set Kokkos_ROOT to a Kokkos with OpenMP"; }
  local tarball
  tarball=$(ls "$work"/source/*.orig.tar.*)
  tar xf "$tarball" -C "$work/source" --wildcards '*/packages/kokkos/*' --strip-components=2
}

build_kokkos() {
  mkdir -p "$cache" || fail "cannot write the cache folder $cache: set XDG_CACHE_HOME to a folder of yours, or Kokkos_ROOT to a Kokkos with OpenMP"
  work=$(mktemp -d "$cache/kokkos-build-XXXXXX")   # not local: the trap runs after this function
  trap 'rm -rf "$work"' EXIT
  say "building Kokkos $kokkos_version with OpenMP into $prefix (166 MB download, about 20 s of compiling)"
  fetch_kokkos_source "$work"
  { cmake -S "$work/source/kokkos" -B "$work/build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_CXX_STANDARD=17 \
      -DCMAKE_CXX_COMPILER="${CXX:-c++}" -DKokkos_ENABLE_OPENMP=ON -DKokkos_ENABLE_SERIAL=ON -DCMAKE_POSITION_INDEPENDENT_CODE=ON \
      -DCMAKE_INSTALL_LIBDIR=lib -DCMAKE_INSTALL_PREFIX="$prefix" &&
    cmake --build "$work/build" && DESTDIR=$work/destination cmake --install "$work/build"; } >>"$log" 2>&1 ||
    { tail -15 "$log" >&2; fail "Kokkos did not build"; }
  mv -T "$work/destination$prefix" "$prefix"   # last, so that an interrupted build leaves no half prefix behind
  say "Kokkos is ready"
}

if [ "${1:-}" = --list ]; then
  printf '%s\n' "${packages[@]}"
  exit 0
fi
install_packages
key=$(compiler_key)
prefix=$cache/kokkos-$kokkos_version-$key
if [ ! -e "$prefix/lib/cmake/Kokkos/KokkosConfig.cmake" ] && ! site_kokkos; then
  build_kokkos
fi
say "everything is there"

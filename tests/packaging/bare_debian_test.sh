#!/usr/bin/env bash
# In a Debian 12 that holds nothing else (debootstrap, no compiler): the package installs, trains on one and two ranks, has its manual
# and its completion in a real bash; the tarball trains with the libraries that it brings; both are gone when they are removed.
# usage: bare_debian_test.sh BUILD
# Needs root, debootstrap and Debian's package source; exit code 77 without. MPITRON_BARE_DEBIAN names a folder that keeps the bare
# system for the next time.
set -euo pipefail
build=$(cd "$1" && pwd)
source=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
mirror=${MPITRON_DEBIAN_MIRROR:-http://deb.debian.org/debian}
PATH=$PATH:/usr/sbin:/sbin
skip() { printf 'bare_debian_test: %s\n' "$*" >&2; exit 77; }
fail() { printf 'bare_debian_test: %s\n' "$*" >&2; exit 1; }
say() { printf 'bare_debian_test: %s\n' "$*"; }

[ "$(id -u)" = 0 ] || skip 'needs root'
command -v debootstrap >/dev/null || skip 'debootstrap is not installed'
work=$(mktemp -d)
leave() {
  local mounted
  for mounted in "$work"/*/proc "$work"/*/dev/pts; do
    ! mountpoint -q "$mounted" || umount "$mounted"
  done
  rm -rf "$work"
}
trap leave EXIT

base=${MPITRON_BARE_DEBIAN:-$work/base}
if [ ! -x "$base/bin/bash" ]; then
  say "debootstrap bookworm into $base"
  debootstrap --variant=minbase bookworm "$base" "$mirror" >"$work/debootstrap.log" 2>&1 ||
    { tail -3 "$work/debootstrap.log" >&2; skip "no Debian from $mirror"; }
fi

# A copy of the bare system, with what a process expects of the kernel.
system() {
  cp -a "$base" "$work/$1"
  mount -t proc proc "$work/$1/proc"
  mkdir -p "$work/$1/dev/pts" "$work/$1/dev/shm" && chmod 1777 "$work/$1/dev/shm"
  mount -t devpts devpts "$work/$1/dev/pts"
  cp -L /etc/resolv.conf "$work/$1/etc/resolv.conf"
  cp -L /etc/hosts "$work/$1/etc/hosts" 2>/dev/null || true
}
inside() { # SYSTEM COMMAND...
  local root=$work/$1
  shift
  chroot "$root" env -i HOME=/root LANG=C.UTF-8 PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin TERM=xterm \
    DEBIAN_FRONTEND=noninteractive OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 \
    OMPI_MCA_rmaps_base_oversubscribe=1 OMP_NUM_THREADS=1 "$@"
}
flags=(--num-layers 2 --hidden-size 32 --num-attention-heads 4 --seq-length 16 --max-position-embeddings 16 --micro-batch-size 2
  --lr 1e-3 --log-interval 1 --eval-iters 1 --tokenizer-type NullTokenizer --vocab-size 63 --mock-data --train-iters 2)
trains() { # what, SYSTEM COMMAND...: two iterations with a loss
  local what=$1 out
  shift
  out=$(inside "$@" "${flags[@]}" 2>&1) || fail "$what: $out"
  [ "$(grep -c 'lm loss: ' <<<"$out")" -eq 2 ] || fail "$what printed: $out"
  say "$what trains"
}

say 'package and tarball'
(cd "$build" && cpack -G DEB >"$work/cpack.log" 2>&1) || { tail -5 "$work/cpack.log" >&2; fail 'cpack'; }
package=$(find "$build" -maxdepth 1 -name 'mpitron_*.deb' -printf '%T@ %p\n' | sort -n | tail -1 | cut -d' ' -f2)
[ -n "$package" ] || fail 'cpack wrote no package'
bash "$source/packaging/tarball.sh" "$build" >/dev/null
tarball=$(find "$build" -maxdepth 1 -name 'mpitron-*.tar.gz' -printf '%T@ %p\n' | sort -n | tail -1 | cut -d' ' -f2)

system installed
cp "$package" "$work/installed/root/mpitron.deb"
inside installed apt-get update -qq >/dev/null
inside installed apt-get install -y -qq --no-install-recommends /root/mpitron.deb >"$work/apt.log" 2>&1 ||
  { tail -5 "$work/apt.log" >&2; fail 'the package does not install'; }
! inside installed bash -c 'command -v g++ gcc cc' || fail 'there is a compiler: the test would not see what is missing'
say "$(inside installed mpitron --version)"
trains 'the package' installed mpitron pretrain-gpt
trains 'the package on two ranks' installed mpirun -n 2 mpitron pretrain-gpt --global-batch-size 4

inside installed rm -f /etc/dpkg/dpkg.cfg.d/docker   # an image's rule that leaves pages out
inside installed apt-get install -y -qq --no-install-recommends man-db bash-completion >"$work/apt.log" 2>&1 ||
  { tail -5 "$work/apt.log" >&2; fail 'man-db and bash-completion do not install'; }
page=$(inside installed bash -c 'MANPAGER=cat man mpitron' 2>&1) || fail "man mpitron: $page"
grep -q 'pretrain-gpt' <<<"$page" || fail "man mpitron says: $page"
inside installed bash -c 'MANPAGER=cat man mpitron-pretrain-gpt' 2>/dev/null | grep -q 'tensor-model-parallel-size' ||
  fail 'man mpitron-pretrain-gpt does not name --tensor-model-parallel-size'
say 'man mpitron, man mpitron-pretrain-gpt'
typed=$(python3 "$source/tests/packaging/type_tab.py" "$work/installed" 'mpitron pretrain-gpt --tensor-mod')
grep -q -- '--tensor-model-parallel-size' <<<"$typed" || fail "completion of --tensor-mod<TAB> shows: $typed"
say 'completion of --tensor-mod<TAB>'
inside installed apt-get remove -y -qq mpitron >/dev/null 2>&1
left=$(find "$work/installed/usr" -path '*mpitron*' -not -type d | head -3)
[ -z "$left" ] || fail "removing the package leaves $left"

system unpacked
inside unpacked apt-get update -qq >/dev/null
inside unpacked apt-get install -y -qq --no-install-recommends libopenmpi3 openmpi-bin >"$work/apt.log" 2>&1 ||
  { tail -5 "$work/apt.log" >&2; fail 'Open MPI does not install'; }
tar -C "$work/unpacked/opt" -xzf "$tarball"
place=/opt/$(basename "$tarball" .tar.gz)
missing=$(inside unpacked ldd "$place/bin/mpitron" | grep 'not found' || true)
[ -z "$missing" ] || fail "the tarball lacks $missing"
trains 'the tarball' unpacked "$place/bin/mpitron" pretrain-gpt
trains 'the tarball on two ranks' unpacked mpirun -n 2 "$place/bin/mpitron" pretrain-gpt --global-batch-size 4
mv "$work/unpacked$place" "$work/unpacked/srv/elsewhere"
trains 'the tarball in another folder' unpacked /srv/elsewhere/bin/mpitron pretrain-gpt

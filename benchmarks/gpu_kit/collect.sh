#!/usr/bin/env bash
# Collects the kit for a machine with a GPU: programs of a build tree, the libraries they need, recorded runs, the script; and packs it.
# usage: collect.sh BUILD_DIR KIT_DIR RECORDED_RUNS_DIR [MOST_MIB]     -> KIT_DIR, and KIT_DIR.tar.xz of at most so many MiB
set -euo pipefail
build=$1 kit=$2 runs=$3 most=${4:-55}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
# The programs share most of their code, which a window as large as all of them finds.
packed() {
  tar -C "$(dirname "$kit")" -cf - "$(basename "$kit")" | xz -T1 --lzma2=preset=1,dict=256MiB
}
programs=(mpitron-cuda kernels_gpu_test gpu_step_bench gpu_attention_bench memory_kernels_bench)

rm -rf "$kit"
mkdir -p "$kit/bin" "$kit/lib" "$kit/data/curves"
for program in "${programs[@]}"; do
  strip -o "$kit/bin/$program" "$build/bin/$program"
done
# What the linker finds here and the other machine may lack: all but the C library, the driver and CUDA's own.
for program in "${programs[@]}"; do
  ldd "$build/bin/$program"
done | sed -n 's/^\t\([^ ]*\) => \(\/[^ ]*\) .*/\1 \2/p' | sort -u | while read -r name path; do
  case $name in
    libc.so* | libm.so* | libdl.so* | libpthread.so* | librt.so* | ld-linux* | libcuda.so* | libcublas* | libcudnn* | libcudart* | libnccl*) ;;
    *) cp -L "$path" "$kit/lib/$name" && strip "$kit/lib/$name" ;;
  esac
done
cp "$here/run.sh" "$here"/*.py "$here/README.md" "$kit/"

# Recorded runs, those of the first minutes before the small ones before the large ones, as many as there is room for.
left=$((most * 1024 - $(packed | wc -c) / 1024))
chosen=0 all=0
for case in llama moe-probs-on-input mla t5 $(du -sk "$runs"/* | sort -n | sed 's/.*\///'); do
  if [ ! -d "$runs/$case" ] || [ -e "$kit/data/curves/$case" ]; then
    continue
  fi
  all=$((all + 1))
  size=$(du -sk "$runs/$case" | cut -f1)
  if [ "$size" -le "$left" ]; then
    cp -r "$runs/$case" "$kit/data/curves/"
    left=$((left - size)) chosen=$((chosen + 1))
  fi
done
packed >"$kit.tar.xz"
printf '%s: %s MiB (at most %s), %s of %s recorded runs\n' "$kit.tar.xz" "$(du -m "$kit.tar.xz" | cut -f1)" "$most" "$chosen" "$all"

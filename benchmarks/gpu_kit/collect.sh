#!/usr/bin/env bash
# Collects the kit for a machine with a GPU: programs of a build tree, the libraries they need, recorded runs, the script.
# usage: collect.sh BUILD_DIR KIT_DIR RECORDED_RUNS_DIR [MOST_MIB]
set -euo pipefail
build=$1 kit=$2 runs=$3 most=${4:-55}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
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
left=$((most * 1024 - $(du -sk "$kit" | cut -f1)))
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
printf '%s: %s MiB (at most %s), %s of %s recorded runs\n' "$kit" "$(du -sm "$kit" | cut -f1)" "$most" "$chosen" "$all"

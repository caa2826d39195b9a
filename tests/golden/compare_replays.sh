#!/usr/bin/env bash
# compare_replays.sh PROGRAM save|check FOLDER [PATTERN]
#
# Replays every recorded run below MPITRON_GOLDEN_DIR whose name matches PATTERN, some of them on
# two or four ranks, and keeps in FOLDER what `mpitron replay` prints; `check` compares with what
# `save` has kept, byte for byte. A change of structure must change none of it.
# Exit code 0: all are the same; 1: one differs.
set -u
program=$1 action=$2 folder=$3 pattern=${4:-}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_mpi_yield_when_idle=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
export OMP_NUM_THREADS=${OMP_NUM_THREADS:-2} OMP_WAIT_POLICY=passive
mkdir -p "$folder"

# name ranks case flags...
layouts() {
  cat <<'ROWS'
bert-tp2 2 curves/bert --tensor-model-parallel-size 2 --sequence-parallel
bert-pp2 2 curves/bert --pipeline-model-parallel-size 2
t5-tp2 2 curves/t5 --tensor-model-parallel-size 2
t5-pp2 2 curves/t5-rope --pipeline-model-parallel-size 2
llama-pp2-vpp 2 curves/llama --pipeline-model-parallel-size 2 --num-layers-per-virtual-pipeline-stage 1
llama-cp2 2 curves/llama --context-parallel-size 2
llama-tp2-pp2 4 curves/llama-mtp --tensor-model-parallel-size 2 --pipeline-model-parallel-size 2
moe-ep2 2 curves/moe-aux --expert-model-parallel-size 2
hybrid-tp2 2 hybrid/curves/hybrid-moe --tensor-model-parallel-size 2 --sequence-parallel
vit-tp2 2 vision/curves/vit-inpaint --tensor-model-parallel-size 2
llava-tp2 2 vision/curves/llava-tiles --tensor-model-parallel-size 2
llama-dp2-zero 2 curves/llama --use-distributed-optimizer
ROWS
}

failed=0
note() {  # name, command...
  local name=$1 text
  shift
  [[ $name == *$pattern* ]] || return 0
  text=$("$@" 2>&1 | grep -v '^\[.*\] \(mpirun\|PMIX\)'; echo "exit ${PIPESTATUS[0]}")
  if [ "$action" = save ]; then
    printf '%s\n' "$text" > "$folder/$name"
  elif ! diff "$folder/$name" <(printf '%s\n' "$text") > "$folder/$name.diff"; then
    echo "$name differs: $folder/$name.diff"
    failed=1
  else
    rm "$folder/$name.diff"
  fi
}

for case in "$MPITRON_GOLDEN_DIR"/{,hybrid/,vision/}curves/*/; do
  path=${case#"$MPITRON_GOLDEN_DIR"/}
  path=${path%/}
  note "${path//\//-}" "$program" replay "$case" --device host --json
done
while read -r name ranks case flags; do
  # shellcheck disable=SC2086
  note "$name" env OMP_NUM_THREADS=1 mpirun -n "$ranks" "$program" replay "$MPITRON_GOLDEN_DIR/$case" \
    --device host $flags < /dev/null
done < <(layouts)
exit $failed

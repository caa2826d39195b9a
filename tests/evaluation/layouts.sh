#!/usr/bin/env bash
# Answers of a task are the same whatever ranks generate them, with a cache or without.
# usage: layouts.sh MPITRON
set -euo pipefail
mpitron=$(realpath "$1")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_mpi_yield_when_idle=1 OMP_NUM_THREADS=1 OMP_WAIT_POLICY=passive
tokenizer=(--tokenizer-type NullTokenizer --vocab-size 60)
# train NAME OPTIONS...
train() {
  "$mpitron" pretrain-gpt --num-layers 2 --hidden-size 32 --num-attention-heads 4 --seq-length 32 --max-position-embeddings 32 \
    --micro-batch-size 2 --global-batch-size 4 --train-iters 3 --lr 1e-2 --eval-iters 0 --mock-data "${tokenizer[@]}" \
    --save "$1" "${@:2}" >train.log
}
train dense
train experts --disable-bias-linear --num-experts 4 --moe-router-topk 2
cat >task.yaml <<'TASK'
task: numbers
output_type: generate_until
doc_to_text: "{{question}}"
doc_to_target: "7"
generation_kwargs:
  until: ["\n"]
  max_gen_toks: 8
metric_list:
  - metric: exact_match
TASK
for i in $(seq 20); do
  printf '{"question": "%d %d %d"}\n' "$i" $((i * 7 % 60)) $((i * 11 % 60))
done >questions.jsonl

# evaluate MODEL NAME RANKS OPTIONS...
evaluate() {
  local start=() log=$1.$2.log
  [ "$3" = 1 ] || start=(mpirun -n "$3")
  "${start[@]}" "$mpitron" evaluate --task task.yaml --valid-data questions.jsonl --load "$1" "${tokenizer[@]}" \
    --output-path figures.json "${@:4}" >"$log" 2>&1 || {
    cat "$log"
    exit 1
  }
  [ -e "$1.json" ] || cp figures.json "$1.json"
  cmp "$1.json" figures.json
}
evaluate dense one_rank 1
evaluate dense tensor 2 --tensor-model-parallel-size 2
evaluate dense stages_of_replicas 4 --pipeline-model-parallel-size 2
evaluate dense context 2 --context-parallel-size 2
evaluate experts one_rank 1
evaluate experts shared 2 --expert-model-parallel-size 2 --moe-token-dispatcher-type alltoall
if grep -l "without a cache" ./*.log; then
  exit 1
fi
evaluate dense sequence 2 --tensor-model-parallel-size 2 --sequence-parallel
grep -q "without a cache: --sequence-parallel is given" dense.sequence.log

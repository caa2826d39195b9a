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
"$mpitron" pretrain-gpt --num-layers 2 --hidden-size 32 --num-attention-heads 4 --seq-length 32 --max-position-embeddings 32 \
  --micro-batch-size 2 --global-batch-size 4 --train-iters 3 --lr 1e-2 --eval-iters 0 --mock-data "${tokenizer[@]}" \
  --save model >train.log
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

# evaluate NAME RANKS OPTIONS...
evaluate() {
  local start=()
  [ "$2" = 1 ] || start=(mpirun -n "$2")
  "${start[@]}" "$mpitron" evaluate --task task.yaml --valid-data questions.jsonl --load model "${tokenizer[@]}" \
    --output-path "$1.json" "${@:3}" >"$1.log" 2>&1 || {
    cat "$1.log"
    exit 1
  }
  cmp one_rank.json "$1.json"
}
evaluate one_rank 1
evaluate tensor 2 --tensor-model-parallel-size 2
evaluate stages_of_replicas 4 --pipeline-model-parallel-size 2
evaluate context 2 --context-parallel-size 2
if grep -l "without a cache" ./*.log; then
  exit 1
fi
evaluate sequence 2 --tensor-model-parallel-size 2 --sequence-parallel
grep -q "without a cache: --sequence-parallel is given" sequence.log

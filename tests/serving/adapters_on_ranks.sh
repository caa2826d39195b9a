#!/usr/bin/env bash
# Two ranks share a tiny model and load, serve and unload an adapter of it; a folder that only one of them can read is refused by both.
# usage: adapters_on_ranks.sh MPITRON      exit code 77 without mpirun
set -euo pipefail
mpitron=$(realpath "$1")
command -v mpirun >/dev/null || {
  printf 'serving: mpirun is not there\n'
  exit 77
}
export OMP_NUM_THREADS=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_mpi_yield_when_idle=1
work=$(mktemp -d)
server=
# shellcheck disable=SC2317  # called by the trap
finish() {
  [ -z "$server" ] || kill "$server" 2>/dev/null || true
  rm -rf "$work"
}
trap finish EXIT
cd "$work"

tokenizer=(--tokenizer-type NullTokenizer --vocab-size 63)
train() {
  "$mpitron" pretrain-gpt --num-layers 2 --hidden-size 32 --num-attention-heads 4 --seq-length 32 --max-position-embeddings 32 \
    --position-embedding-type rope --transformer-impl local --attention-dropout 0 --hidden-dropout 0 --micro-batch-size 4 \
    --global-batch-size 4 --lr-decay-style constant --mock-data --eval-iters 0 --init-method-std 0.3 "${tokenizer[@]}" "$@" >>train.log
}
train --train-iters 1 --lr 1e-3 --save model --save-interval 1
train --train-iters 20 --lr 3e-2 --pretrained-checkpoint model --lora-rank 4 --save tuned --save-interval 20
"$mpitron" adapter --load tuned --output peft >>train.log

# shellcheck disable=SC2016  # each rank expands it
mpirun -n 2 bash -c 'if [ "$OMPI_COMM_WORLD_RANK" = 0 ]; then echo $$ >first_rank; else cd /; fi; exec "$0" "$@"' \
  "$mpitron" serve --load "$work/model" \
  --tensor-model-parallel-size 2 --allow-adapter-loading --served-model-name base "${tokenizer[@]}" --port 0 >serve.log 2>&1 &
server=$!
for _ in $(seq 200); do
  address=$(sed -n 's/.*\(http:\/\/127\.0\.0\.1:[0-9]*\).*/\1/p' serve.log | head -1)
  [ -n "$address" ] && break
  sleep 0.1
done
[ -n "${address:-}" ] || { cat serve.log; exit 1; }

status=0
# expect NAME PART TARGET BODY: the reply holds a part
expect() {
  local reply
  reply=$(curl -s "$address/v1/$3" -d "$4")
  if [[ $reply == *$2* ]]; then
    printf 'ok      %s\n' "$1"
  else
    printf 'WRONG   %s: %s\n' "$1" "$reply"
    status=1
  fi
}
text() {
  curl -s "$address/v1/completions" -d "{\"model\": \"$1\", \"prompt\": \"5 6 7 8\", \"max_tokens\": 12, \"temperature\": 0}" |
    sed -n 's/.*"text":"\([^"]*\)".*/\1/p'
}
expect 'only the first rank can read it' 'rank 1 cannot read it: ' load_lora_adapter '{"lora_name": "near", "lora_path": "peft"}'
expect 'no rank can read it' '/absent/' load_lora_adapter '{"lora_name": "none", "lora_path": "/absent"}'
expect 'both read it' '"parent":"base"' load_lora_adapter "{\"lora_name\": \"tuned\", \"lora_path\": \"$work/peft\"}"
of_model=$(text base) of_adapter=$(text tuned)
want=$("$mpitron" generate --load "$work/model" "${tokenizer[@]}" --adapter peft --prompts '5 6 7 8' --num-tokens-to-generate 12 --top-k 1)
if [ -n "$of_adapter" ] && [ "$of_adapter" != "$of_model" ] && [[ $want == *"$of_adapter"* ]]; then
  printf 'ok      answers are those of one rank\n'
else
  printf 'WRONG   adapter: %s; one rank: %s; model: %s\n' "$of_adapter" "$want" "$of_model"
  status=1
fi
expect 'it goes' '"id":"tuned"' unload_lora_adapter '{"lora_name": "tuned"}'
expect 'it is gone' 'tuned does not exist' completions '{"model": "tuned", "prompt": "5", "max_tokens": 1}'
expect 'another one of the name comes' '"parent":"base"' load_lora_adapter "{\"lora_name\": \"tuned\", \"lora_path\": \"$work/peft\"}"
[ "$(text tuned)" = "$of_adapter" ] || { printf 'WRONG   it answers as before\n'; status=1; }
kill -TERM "$(cat first_rank)"
wait "$server" || status=1
server=
grep -q 'every request is answered' serve.log || { cat serve.log; status=1; }
exit $status

#!/usr/bin/env bash
# Real clients against a real server: trains a tiny model, serves it, and lets the clients of PyPI talk to it.
# usage: run.sh MPITRON [STREAMS]          exit code 77 where the clients cannot be installed
# With STREAMS as many bad clients, and one good one, take their place (load.py), which need nothing but python3.
# The clients lie in ~/.cache/mpitron/clients (CLIENTS overrides), so that a second run needs no network.
set -euo pipefail
mpitron=$(realpath "$1")
streams=${2:-}
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
clients=${CLIENTS:-${XDG_CACHE_HOME:-$HOME/.cache}/mpitron/clients}
work=$(mktemp -d)
server=
# shellcheck disable=SC2317  # called by the trap
finish() {
  [ -z "$server" ] || kill "$server" 2>/dev/null || true
  rm -rf "$work"
}
trap finish EXIT

if [ -z "$streams" ] && ! "$clients/bin/python" -c 'import openai, schemathesis, prometheus_client' 2>/dev/null; then
  { python3 -m venv "$clients" && timeout 300 "$clients/bin/pip" install -q openai schemathesis prometheus_client; } \
    >"$work/install.log" 2>&1 || {
    printf 'serving: the clients cannot be installed (python3 with venv, and PyPI or a mirror are needed)\n'
    exit 77
  }
fi

cd "$work"
for i in $(seq 200); do
  printf '{"text": "The %d. ship sails from the old harbour at dawn, and returns in the evening with the tide."}\n' "$i"
done >text.jsonl
"$mpitron" tokenizer train --input text.jsonl --vocab-size 300 --output-dir tokenizer >train.log
tokenizer=(--tokenizer-type GPT2BPETokenizer --vocab-file tokenizer/vocab.json --merge-file tokenizer/merges.txt)
"$mpitron" preprocess --input text.jsonl --output-prefix text "${tokenizer[@]}" --append-eod >>train.log
"$mpitron" pretrain-gpt --num-layers 2 --hidden-size 64 --num-attention-heads 4 --seq-length 64 --max-position-embeddings 256 \
  --position-embedding-type rope --transformer-impl local --attention-dropout 0 --hidden-dropout 0 \
  --micro-batch-size 8 --global-batch-size 8 --train-iters 60 --lr 3e-3 --lr-decay-style constant \
  --data-path text_text_document --split 100,0,0 --eval-iters 0 "${tokenizer[@]}" --save model --save-interval 60 >>train.log

limits=()
on_server=() on_clients=()
if [ -n "$streams" ]; then
  # Clients have a processor of their own where there are two, so that they do not take the server's.
  last=$(($(nproc) - 1))
  if [ "$last" -gt 0 ]; then
    on_server=(env "OMP_NUM_THREADS=$last" taskset -c "0-$((last - 1))")
    on_clients=(taskset -c "$last")
  fi
  ulimit -n 8192
  limits=(--max-connections 4096 --max-waiting 4096 --drain-seconds 2 --inference-max-requests 512
    --inference-dynamic-batching-max-tokens-override 1024)
fi
"${on_server[@]}" "$mpitron" serve --load model "${tokenizer[@]}" --port 0 "${limits[@]}" >serve.log 2>&1 &
server=$!
for _ in $(seq 100); do
  address=$(sed -n 's/.*\(http:\/\/127\.0\.0\.1:[0-9]*\).*/\1/p' serve.log | head -1)
  [ -n "$address" ] && break
  sleep 0.2
done
[ -n "${address:-}" ] || { cat serve.log; exit 1; }

status=0
if [ -n "$streams" ]; then
  "${on_clients[@]}" python3 "$here/load.py" "$address" "$server" "$streams" || status=1
  exit $status
fi
"$clients/bin/python" "$here/openai_client.py" "$address" || status=1
# EXAMPLES requests of each kind to each route, made of the OpenAPI document; checks that the document tells the truth.
if "$clients/bin/schemathesis" run "$address/openapi.json" --max-examples "${EXAMPLES:-8}" --seed 1 --no-shrink --phases examples,fuzzing \
  --checks not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance >schemathesis.log 2>&1; then
  printf 'ok      schemathesis\n'
else
  tail -n 120 schemathesis.log
  status=1
fi
kill -TERM "$server"
wait "$server" || status=1
server=
grep -q 'every request is answered' serve.log || { cat serve.log; status=1; }
exit $status

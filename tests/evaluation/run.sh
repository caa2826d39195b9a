#!/usr/bin/env bash
# Figures of tasks beside lm-evaluation-harness: the same tiny model measured by `mpitron evaluate`, by the harness's own Hugging Face
# back end on the converted model, and by the harness through `mpitron serve`. Equal counts are asked for.
# usage: run.sh MPITRON          exit code 77 where the harness is not there
# It lies in ~/.cache/mpitron/lm-eval (HARNESS overrides). INSTALL=1 installs it from PyPI: with torch some 6 GB.
set -euo pipefail
mpitron=$(realpath "$1")
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
tasks=$here/../../jobs/tasks
harness=${HARNESS:-${XDG_CACHE_HOME:-$HOME/.cache}/mpitron/lm-eval}
work=$(mktemp -d)
server=
# shellcheck disable=SC2317  # called by the trap
finish() {
  [ -z "$server" ] || kill "$server" 2>/dev/null || true
  rm -rf "$work"
}
trap finish EXIT

if [ "${INSTALL:-0}" = 1 ] && [ ! -x "$harness/bin/lm_eval" ]; then
  python3 -m venv "$harness"
  "$harness/bin/pip" install -q 'lm-eval[api,hf]' torch transformers peft >"$work/install.log" 2>&1 || true
fi
if ! "$harness/bin/python" -c 'import lm_eval, torch, transformers' 2>/dev/null; then
  printf 'evaluation: lm-evaluation-harness is not there: INSTALL=1 tests/evaluation/run.sh MPITRON brings it (PyPI, 6 GB)\n'
  exit 77
fi

cd "$work"
"$harness/bin/python" "$here/make_tasks.py" "$tasks" . "$mpitron"
"$mpitron" pretrain-gpt --num-layers 2 --hidden-size 64 --num-attention-heads 4 --seq-length 128 --max-position-embeddings 128 \
  --position-embedding-type rope --normalization RMSNorm --swiglu --disable-bias-linear --untie-embeddings-and-output-weights \
  --attention-dropout 0 --hidden-dropout 0 --micro-batch-size 8 --global-batch-size 8 --train-iters 60 --lr 3e-3 \
  --lr-decay-style constant --train-data-path text_text_document --eval-iters 0 --save model --save-interval 60 \
  --tokenizer-type HuggingFaceTokenizer --tokenizer-model tokenizer >train.log
"$mpitron" convert --from model --to hf --to-format huggingface --model-type llama >>train.log
cp tokenizer/* hf/

names=(piqa hellaswag winogrande)
files=() data=()
for name in "${names[@]}"; do
  files+=("$tasks/$name.yaml")
  data+=("$name.jsonl")
done
"$mpitron" evaluate --task "${files[@]}" --valid-data "${data[@]}" --num-fewshot 2 --fewshot-data "${data[@]/%.jsonl/-train.jsonl}" \
  --load hf --output-path ours.json >evaluate.log

list=$(IFS=,; echo "${names[*]/%/_here}")
export HF_HUB_OFFLINE=1 HF_DATASETS_OFFLINE=1 TOKENIZERS_PARALLELISM=false
lm_eval() { "$harness/bin/lm_eval" "$@" --tasks "$list" --include_path harness --num_fewshot 2 --log_samples; }
lm_eval --model hf --model_args pretrained=hf,dtype=float32 --device cpu --batch_size 4 --output_path by_hf >hf.log 2>&1 || {
  tail -20 hf.log; exit 1; }

"$mpitron" serve --load hf --port 0 --served-model-name model >serve.log 2>&1 &
server=$!
for _ in $(seq 100); do
  address=$(sed -n 's/.*\(http:\/\/127\.0\.0\.1:[0-9]*\).*/\1/p' serve.log | head -1)
  [ -n "$address" ] && break
  sleep 0.2
done
[ -n "${address:-}" ] || { cat serve.log; exit 1; }
lm_eval --model local-completions --output_path by_server \
  --model_args "model=model,base_url=$address/v1/completions,tokenizer=hf,tokenizer_backend=huggingface,max_length=128,num_concurrent=1" \
  >server.log 2>&1 || { tail -20 server.log; exit 1; }
"$harness/bin/python" "$here/compare_counts.py" ours.json by_hf by_server

# PEFT itself on an adapter of ours.
"$mpitron" pretrain-gpt --num-layers 2 --hidden-size 64 --num-attention-heads 4 --seq-length 128 --max-position-embeddings 128 \
  --position-embedding-type rope --normalization RMSNorm --swiglu --disable-bias-linear --untie-embeddings-and-output-weights \
  --attention-dropout 0 --hidden-dropout 0 --micro-batch-size 8 --global-batch-size 8 --train-iters 20 --lr 1e-2 \
  --lr-decay-style constant --train-data-path text_text_document --eval-iters 0 --pretrained-checkpoint hf --lora-rank 4 \
  --lora-alpha 8 --save adapter --save-interval 20 --tokenizer-type HuggingFaceTokenizer --tokenizer-model tokenizer >>train.log
{
  "$mpitron" adapter --load adapter --output peft
  "$mpitron" convert --from hf --to merged --to-format huggingface --merge-adapter peft
} >>train.log
"$harness/bin/python" "$here/peft_check.py" hf peft merged

#!/usr/bin/env bash
# Teaches the model of `make run` (jobs/quickstart.sh, which runs where there is none yet) to define words, from its own dictionary:
# questions, low-rank updates, figures before and after, a server that answers with them and without. docs/how-to/finetune.md says what
# comes of it.
# usage: finetune.sh            everything goes below build/quickstart/finetune
# Settings (environment): ITERATIONS, RANK, LR, THREADS, BASE (nf4: weights in 4 bits under the updates).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
mpitron=$PWD/build/bin/mpitron
: "${THREADS:=$(nproc)}" "${ITERATIONS:=300}" "${RANK:=16}" "${LR:=2e-3}"
export OMP_NUM_THREADS=$THREADS
from=$PWD/build/quickstart
out=$from/finetune
[ -d "$from/model" ] || bash jobs/quickstart.sh
rm -rf "$out"
mkdir -p "$out/tokenizer"
cd "$out"

step() { printf '\n-- %s\n' "$*"; }
show() {
  printf '$ %s\n' "$*"
  "$@"
}

step 'a tokenizer folder: the vocabulary as tokenizer.json, padding by a token that no text has'
awk 'FNR == 1 && /^#/ { next } { gsub(/\\/, "\\\\"); gsub(/"/, "\\\""); printf "%s\"%s\"", n++ ? "," : "", $0 }' \
  "$from/tokenizer/merges.txt" >merges.txt
end=$(grep -o '"<|endoftext|>": *[0-9]*' "$from/tokenizer/vocab.json" | grep -o '[0-9]*$')
{
  printf '{"version":"1.0","truncation":null,"padding":null,"added_tokens":[{"id":%s,"content":"<|endoftext|>","single_word":false,' "$end"
  printf '"lstrip":false,"rstrip":false,"normalized":false,"special":true}],"normalizer":null,'
  printf '"pre_tokenizer":{"type":"ByteLevel","add_prefix_space":false,"trim_offsets":true,"use_regex":true},"post_processor":null,'
  printf '"decoder":{"type":"ByteLevel","add_prefix_space":true,"trim_offsets":true,"use_regex":true},'
  printf '"model":{"type":"BPE","dropout":null,"unk_token":null,"continuing_subword_prefix":null,"end_of_word_suffix":null,'
  printf '"fuse_unk":false,"vocab":%s,"merges":[%s]}}' "$(cat "$from/tokenizer/vocab.json")" "$(cat merges.txt)"
} >tokenizer/tokenizer.json
printf '{"tokenizer_class":"PreTrainedTokenizerFast","bos_token":"<|endoftext|>","eos_token":"<|endoftext|>","pad_token":"\\u0100"}\n' \
  >tokenizer/tokenizer_config.json

step 'questions from the dictionary: define this word'
# One sense of a word: "Harbor, n. A place of security ..." up to its first full stop.
LC_ALL=C awk -v train=train.jsonl -v unseen=unseen.jsonl '
  match($0, /^\{"text":"[A-Z][a-z]+, (n|a)\. /) {
    word = substr($0, 10); sub(/,.*/, "", word)
    rest = substr($0, RLENGTH + 1); sub(/"\}$/, "", rest); sub(/^\([^)]*\) */, "", rest); sub(/[.;:].*/, "", rest)
    if (length(rest) > 25 && length(rest) < 90 && rest !~ /[\\"]/ && !seen[word]++ && n < 4400) {
      printf "{\"prompt\": \"Define %s.\", \"completion\": \"%s.\"}\n", tolower(word), rest >(n++ < 4000 ? train : unseen)
    }
  }' "$from/dictionary.jsonl"
wc -l train.jsonl unseen.jsonl
show "$mpitron" convert --from "$from/model" --to base --to-format huggingface --model-type llama
cp tokenizer/* base/

data=(--use-checkpoint-args --attention-dropout 0 --hidden-dropout 0 --sft --train-data-path train.jsonl --valid-data-path unseen.jsonl
  --tokenizer-type SFTTokenizer --tokenizer-model tokenizer --sft-tokenizer-prompt-format llama2 --sft-packing
  --calculate-per-token-loss --seq-length 128 --micro-batch-size 8 --global-batch-size 8 --train-iters "$ITERATIONS" --lr "$LR")
# How likely a model finds the right answers of words that it was not taught.
perplexity() { show "$mpitron" pretrain-gpt --pretrained-checkpoint "$1" "${data[@]}" --skip-train --full-validation | grep 'lm loss PPL'; }

step 'before: the answers of 400 other words'
perplexity base

step "low-rank updates of rank $RANK"
show "$mpitron" pretrain-gpt --pretrained-checkpoint base "${data[@]}" --lora-rank "$RANK" --lora-alpha $((2 * RANK)) \
  --lr-decay-style cosine --lr-warmup-fraction 0.05 --log-interval 50 --eval-iters 0 --save adapter ${BASE:+--lora-base-weights "$BASE"}
show "$mpitron" adapter --load adapter --output peft
show "$mpitron" convert --from base --to tuned --to-format huggingface --merge-adapter peft
cp tokenizer/* tuned/

step 'after'
perplexity tuned

step 'a server answers, as it was and with its adapter'
"$mpitron" serve --load base --adapter define=peft --port 0 >serve.log 2>&1 &
server=$!
trap 'kill "$server" 2>/dev/null || true' EXIT
for _ in $(seq 100); do
  port=$(sed -n 's/.*http:\/\/127\.0\.0\.1:\([0-9]*\).*/\1/p' serve.log | head -1)
  [ -n "$port" ] && break
  sleep 0.1
done
for model in base define; do
  show curl -s "http://127.0.0.1:$port/v1/completions" \
    -d "{\"model\": \"$model\", \"prompt\": \"<|endoftext|>[INST] Define harbor. [/INST]\", \"max_tokens\": 32, \"temperature\": 0}" && echo
done
kill "$server" && wait "$server"
printf '\nEverything is below %s: base/ and tuned/ (Hugging Face folders), peft/ (the adapter).\n' "$out"

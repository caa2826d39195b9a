#!/usr/bin/env bash
# From nothing to a model that writes: real English text, a vocabulary, token files, training, a sample. `make run` calls it.
# usage: quickstart.sh            everything goes below build/quickstart; nothing else is changed on the machine
#        TEXT=my.jsonl ...        your own text instead ({"text": "..."} on each line)
# Settings (environment): VOCAB, LAYERS, HIDDEN, HEADS, SEQ, BATCH, ITERATIONS, PRECISION (--bf16 or nothing), PROMPT, THREADS.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
mpitron=build/bin/mpitron
out=build/quickstart
: "${VOCAB:=4096}" "${LAYERS:=4}" "${HIDDEN:=256}" "${HEADS:=4}" "${SEQ:=128}" "${BATCH:=16}"
: "${PROMPT:=Harbor, n. A place}" "${THREADS:=$(nproc)}" "${TEXT:=$out/dictionary.jsonl}"
# bf16 is twice as fast where the processor multiplies it, and slower where it does not. Both lengths take two to three minutes
# on two cores; 1200 iterations make a better model.
if grep -qE 'avx512_bf16|amx_bf16' /proc/cpuinfo; then
  : "${PRECISION=--bf16}" "${ITERATIONS:=800}"
else
  : "${PRECISION=}" "${ITERATIONS:=400}"
fi
export OMP_NUM_THREADS=$THREADS
mkdir -p "$out"

step() { printf '\n-- %s\n' "$*"; }
show() {
  printf '$ %s\n' "$*"
  "$@"
}

# A package into this folder; where apt has no lists of packages yet, with private ones, so that no root is needed.
download() {
  local apt=(apt-get -qq -o "APT::Sandbox::User=$(id -un)")
  "${apt[@]}" download "$1" 2>/dev/null && return
  mkdir -p lists/partial cache/archives/partial
  apt+=(-o "Dir::State::lists=$PWD/lists" -o "Dir::Cache=$PWD/cache")
  "${apt[@]}" update && "${apt[@]}" download "$1"
}

# The text of Debian's dict-gcide: the entries of Webster's dictionary of 1913 with their quotations, 24 MB of prose.
fetch_dictionary() {
  local packed=/usr/share/dictd/gcide.dict.dz
  if [ ! -e "$packed" ]; then
    packed=$PWD/$out/package/usr/share/dictd/gcide.dict.dz
    (cd "$out" && download dict-gcide && dpkg -x dict-gcide_*.deb package) || {
      printf 'quickstart: cannot fetch the package dict-gcide (is there a network, and a package source in /etc/apt?).\n' >&2
      printf 'Train on your own text instead: TEXT=my.jsonl make run\n' >&2
      exit 3
    }
  fi
  # Shuffled the same way each time, so that validation is not the end of the alphabet.
  gzip -dc <"$packed" | LC_ALL=C awk -f jobs/gcide_to_jsonl.awk | shuf --random-source="$packed" >"$TEXT.part"
  mv "$TEXT.part" "$TEXT"
}

if [ ! -s "$TEXT" ]; then
  step "text: the dictionary of the Debian package dict-gcide -> $TEXT"
  fetch_dictionary
fi
printf 'text: %s, %s documents, %s bytes; the first one:\n' "$TEXT" "$(wc -l <"$TEXT")" "$(wc -c <"$TEXT")"
head -1 "$TEXT"

step "vocabulary: byte-level BPE with $VOCAB tokens"
show $mpitron tokenizer train --input "$TEXT" --vocab-size "$VOCAB" --output-dir "$out/tokenizer"

step 'token files: .bin and .idx, as Megatron writes them'
tokenizer=(--tokenizer-type GPT2BPETokenizer --vocab-file "$out/tokenizer/vocab.json" --merge-file "$out/tokenizer/merges.txt")
show $mpitron preprocess --input "$TEXT" --output-prefix "$out/text" "${tokenizer[@]}" --append-eod --workers "$THREADS"

step "training: GPT with $LAYERS layers of width $HIDDEN"
rm -rf "$out/tensorboard" "$out/model"
trained=0
show $mpitron pretrain-gpt \
  --num-layers "$LAYERS" --hidden-size "$HIDDEN" --num-attention-heads "$HEADS" --seq-length "$SEQ" --max-position-embeddings "$SEQ" \
  --position-embedding-type rope --normalization RMSNorm --swiglu --disable-bias-linear \
  --make-vocab-size-divisible-by 64 --attention-dropout 0 --hidden-dropout 0 --transformer-impl local \
  --micro-batch-size "$BATCH" --global-batch-size "$BATCH" --train-iters "$ITERATIONS" --exit-duration-in-mins 8 \
  --lr 4e-3 --min-lr 2e-4 --lr-decay-style cosine --lr-warmup-fraction 0.05 --weight-decay 0.1 --clip-grad 1.0 \
  --adam-beta2 0.98 --init-method-std 0.02 --seed 1234 ${PRECISION:+"$PRECISION"} \
  --data-path "$out/text_text_document" "${tokenizer[@]}" --split 98,1,1 --data-cache-path "$out/cache" \
  --log-interval 20 --eval-interval 300 --eval-iters 5 \
  --tensorboard-dir "$out/tensorboard" --log-validation-ppl-to-tensorboard \
  --unigram-baseline --sample-prompt "$PROMPT" --sample-tokens 120 --sample-temperature 0.7 \
  --save "$out/model" || trained=$?
# A slow machine has fewer iterations behind it when the time is over (code 85), and a model all the same.
[ "$trained" -eq 0 ] || [ "$trained" -eq 85 ] || exit "$trained"

step "its curves as a page"
show $mpitron report "$out/tensorboard" --output "$out/report.html" --title 'A small GPT on English text' || true # without Chart.js there is no page

step "a server of it answers, and ends"
serve=("$mpitron" serve --load "$out/model")
"${serve[@]}" --port 0 >"$out/serve.log" 2>&1 &
server=$!
trap 'kill "$server" 2>/dev/null || true' EXIT
for _ in $(seq 100); do
  port=$(sed -n 's/.*http:\/\/127\.0\.0\.1:\([0-9]*\).*/\1/p' "$out/serve.log" | head -1)
  [ -n "$port" ] && break
  sleep 0.1
done
ask="{\"prompt\": \"$PROMPT\", \"max_tokens\": 40, \"seed\": 1}"
if command -v curl >/dev/null; then
  show curl -s "http://127.0.0.1:$port/v1/completions" -d "$ask" && echo
fi
kill "$server" && wait "$server"

printf '\nEverything is below %s: tokenizer/, text_text_document.{bin,idx}, tensorboard/ (events and metrics.jsonl), report.html, model/.\n' "$out"
printf 'Serve it:  %s --port 5000\n' "${serve[*]}"
printf "Ask it:    curl http://127.0.0.1:5000/v1/completions -d '%s'\n" "$ask"
printf "       or  %s ask 127.0.0.1:5000 '%s'\n" "$mpitron" "$PROMPT"
printf 'Or talk:   %s chat --load %s\n' "$mpitron" "$out/model"

#!/usr/bin/env bash
# Three kinds of layers at equal parameters on the text of `make run`: a GPT, a hybrid of Mamba, attention and MLPs, delta nets.
# usage: compare_layers.sh        after `make run`; everything goes below build/quickstart/layers
# Settings (environment): ITERATIONS, SEQ, BATCH, THREADS, CURVES (the drawing).
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
text=build/quickstart out=build/quickstart/layers
: "${ITERATIONS:=200}" "${SEQ:=128}" "${BATCH:=16}" "${THREADS:=$(nproc)}" "${CURVES:=$out/layers.svg}"
export OMP_NUM_THREADS=$THREADS
mkdir -p "$out"

# train NAME COMMAND FLAGS...: its losses, a line an iteration, in NAME.losses.
train() {
  local name=$1 command=$2
  shift 2
  build/bin/mpitron "$command" "$@" \
    --hidden-size 256 --num-attention-heads 4 --seq-length "$SEQ" --max-position-embeddings "$SEQ" \
    --position-embedding-type rope --normalization RMSNorm --swiglu --disable-bias-linear --make-vocab-size-divisible-by 64 \
    --attention-dropout 0 --hidden-dropout 0 --micro-batch-size "$BATCH" --global-batch-size "$BATCH" \
    --train-iters "$ITERATIONS" --lr 2e-3 --min-lr 1e-4 --lr-decay-style cosine --lr-warmup-fraction 0.2 --weight-decay 0.1 \
    --clip-grad 1.0 --adam-beta2 0.98 --init-method-std 0.02 --seed 1234 --data-path "$text/text_text_document" --split 98,1,1 \
    --data-cache-path "$out/cache" --tokenizer-type GPT2BPETokenizer --vocab-file "$text/tokenizer/vocab.json" \
    --merge-file "$text/tokenizer/merges.txt" --log-interval 10 --eval-interval "$ITERATIONS" --eval-iters 20 | tee "$out/$name.log"
  sed -nE 's|.* iteration +([0-9]+)/.* lm loss: ([^ ]+) .*|\1 \2|p' "$out/$name.log" >"$out/$name.losses"
}

delta=(--linear-num-key-heads 4 --linear-num-value-heads 8 --linear-key-head-dim 32 --linear-value-head-dim 32)
train GPT pretrain-gpt --num-layers 4
train 'M*-M*-' pretrain-mamba --hybrid-layer-pattern 'M*-M*-' --num-layers 6 --ffn-hidden-size 1024 \
  --mamba-state-dim 64 --mamba-head-dim 64 --mamba-num-groups 2
train delta-nets pretrain-gpt --num-layers 4 --experimental-attention-variant gated_delta_net --linear-attention-freq 4 "${delta[@]}"

for name in GPT 'M*-M*-' delta-nets; do
  printf '%s: %s parameters, %s\n' "$name" "$(grep -oE 'parallel rank \(0, 0\): [0-9]+' "$out/$name.log" | grep -oE '[0-9]+$')" \
    "$(grep -oE 'validation loss at .*lm loss value: [^ ]+' "$out/$name.log" | tail -1)"
done
(cd "$out" && awk -f ../../../jobs/loss_curves.awk GPT.losses 'M*-M*-.losses' delta-nets.losses) >"$CURVES.part"
mv "$CURVES.part" "$CURVES"
printf 'curves: %s\n' "$CURVES"

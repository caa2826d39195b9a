#!/usr/bin/env bash
# From nothing to a model that sees: shapes drawn here, and a vision transformer that tells them apart.
# usage: vision_quickstart.sh     everything goes below build/vision; nothing else is changed on the machine
# Settings (environment): MPITRON (the program), OUT, ITERATIONS, THREADS.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
: "${MPITRON:=build/bin/mpitron}" "${OUT:=build/vision}" "${THREADS:=$(nproc)}" "${ITERATIONS:=6000}"
export OMP_NUM_THREADS=$THREADS
mkdir -p "$OUT"

show() {
  printf '\n$ %s\n' "$*"
  "$@"
}

show "$MPITRON" dataset images draw "$OUT/shapes" --images 6000 --validation-images 600
show "$MPITRON" pretrain-vision-classify --data-path "$OUT/shapes/train" "$OUT/shapes/valid" --num-classes 6 \
  --img-h 32 --img-w 32 --patch-dim 4 --class-token-length 1 --num-layers 4 --hidden-size 96 --num-attention-heads 4 \
  --attention-dropout 0 --hidden-dropout 0 --init-method-std 0.1 --micro-batch-size 32 --global-batch-size 32 \
  --train-iters "$ITERATIONS" --lr 2e-3 --min-lr 1e-5 --lr-decay-style cosine --lr-warmup-iters 100 --weight-decay 0.05 \
  --clip-grad 1.0 --num-workers 1 --log-interval 100 --eval-interval 1000 --eval-iters 10 --full-validation --save "$OUT/vit"

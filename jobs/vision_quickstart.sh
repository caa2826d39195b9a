#!/usr/bin/env bash
# From nothing to models that see: shapes drawn here and a vision transformer that tells them apart; scenes, and a language model
# that is asked how many there are of a kind, beside one that sees nothing.
# usage: vision_quickstart.sh     everything goes below build/vision; nothing else is changed on the machine
# Settings (environment): MPITRON (the program), OUT, ITERATIONS (of the shapes), QUESTION_ITERATIONS, THREADS.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
: "${MPITRON:=build/bin/mpitron}" "${OUT:=build/vision}" "${THREADS:=$(nproc)}" "${ITERATIONS:=8000}" "${QUESTION_ITERATIONS:=2000}"
export OMP_NUM_THREADS=$THREADS
mkdir -p "$OUT"

show() {
  printf '\n$ %s\n' "$*"
  "$@"
}

small=(--attention-dropout 0 --hidden-dropout 0 --init-method-std 0.1 --micro-batch-size 32 --global-batch-size 32 --lr 2e-3
  --min-lr 1e-5 --lr-decay-style cosine --lr-warmup-iters 50 --weight-decay 0.05 --clip-grad 1.0 --num-workers 1
  --log-interval 100 --eval-interval 1000)

show "$MPITRON" dataset images draw "$OUT/shapes" --images 12000 --validation-images 600
show "$MPITRON" pretrain-vision-classify --data-path "$OUT/shapes/train" "$OUT/shapes/valid" --num-classes 6 \
  --img-h 32 --img-w 32 --patch-dim 4 --class-token-length 1 --num-layers 4 --hidden-size 96 --num-attention-heads 4 \
  --train-iters "$ITERATIONS" --eval-iters 10 --full-validation "${small[@]}" --save "$OUT/vit"

show "$MPITRON" dataset images draw "$OUT/scenes" --questions --edge 48 --images 6000 --validation-images 300
show "$MPITRON" tokenizer train --input "$OUT/scenes/questions.jsonl" --json-key question --vocab-size 300 --output-dir "$OUT/words"
words=(--tokenizer-type GPT2BPETokenizer --vocab-file "$OUT/words/vocab.json" --merge-file "$OUT/words/merges.txt")

# train_answers NAME ITERATIONS SET: answers to questions, with the images that the set has.
train_answers() {
  show "$MPITRON" pretrain-vlm --data-path "$OUT/scenes/$3.jsonl" --vision-model-type clip --img-h 48 --img-w 48 --patch-dim 16 \
    --disable-vision-class-token --encoder-num-layers 2 --num-layers 3 --hidden-size 96 --num-attention-heads 4 --seq-length 96 \
    --max-position-embeddings 96 --position-embedding-type rope --make-vocab-size-divisible-by 4 "${words[@]}" \
    --dataloader-type cyclic --train-iters "$2" --eval-iters 0 "${small[@]}" --save "$OUT/$1"
}

# ask NAME TASK: the questions about the other images.
ask() {
  show "$MPITRON" evaluate --load "$OUT/$1" "${words[@]}" --task "jobs/tasks/$2.yaml" --valid-data "$OUT/scenes/questions.jsonl"
}

sed -E 's/"image": "[^"]*", //; s/<image>\\u000a//' "$OUT/scenes/train.jsonl" >"$OUT/scenes/texts.jsonl"
train_answers seeing "$QUESTION_ITERATIONS" train
train_answers blind 300 texts
ask seeing questions
ask seeing questions_without_images
ask blind questions_without_images

#!/usr/bin/env bash
# From nothing to models that see: images drawn here, a ViT that tells shapes apart, and a small vision-language model that counts them
# and reads a word, beside the same model without its images.
# usage: vision_quickstart.sh     everything goes below build/vision; nothing else is changed on the machine
# Settings (environment): MPITRON (the program), OUT, SHAPE_ITERATIONS, QUESTION_ITERATIONS, THREADS.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."
: "${MPITRON:=build/bin/mpitron}" "${OUT:=build/vision}" "${THREADS:=$(nproc)}"
: "${SHAPE_ITERATIONS:=1500}" "${QUESTION_ITERATIONS:=2500}"
export OMP_NUM_THREADS=$THREADS
mkdir -p "$OUT"

step() { printf '\n-- %s\n' "$*"; }
show() {
  printf '$ %s\n' "$*"
  "$@"
}

step 'shapes: six classes in all colours, sizes and places'
show "$MPITRON" dataset images draw "$OUT/shapes" --images 6000 --validation-images 600

step 'a ViT tells them apart'
show "$MPITRON" pretrain-vision-classify --data-path "$OUT/shapes/train" "$OUT/shapes/valid" --num-classes 6 \
  --img-h 32 --img-w 32 --patch-dim 4 --class-token-length 1 --num-layers 4 --hidden-size 96 --num-attention-heads 4 \
  --attention-dropout 0 --hidden-dropout 0 --init-method-std 0.1 --micro-batch-size 32 --global-batch-size 32 \
  --train-iters "$SHAPE_ITERATIONS" --lr 2e-3 --min-lr 1e-5 --lr-decay-style cosine --lr-warmup-iters 100 --weight-decay 0.05 \
  --clip-grad 1.0 --num-workers 1 --log-interval 100 --eval-interval 500 --eval-iters 10 --full-validation --save "$OUT/vit"

step 'questions: scenes of coloured shapes, with a word'
printf '%s\n' cat dog sun map river stone >"$OUT/words.txt"
show "$MPITRON" dataset images draw "$OUT/scenes" --questions --words "$OUT/words.txt" --edge 48 --images 12000 --validation-images 400
# The same conversations without their images, to see what words alone tell.
mkdir -p "$OUT/words"
for set in train valid; do
  sed -e 's/"image": "[^"]*", //' -e 's/<image>\\u000a//' "$OUT/scenes/$set.jsonl" >"$OUT/words/$set.jsonl"
done
sed -e 's/"image": "[^"]*", //' "$OUT/scenes/questions.jsonl" >"$OUT/words/questions.jsonl"
show "$MPITRON" tokenizer train --input "$OUT/scenes/questions.jsonl" --json-key question --vocab-size 300 --output-dir "$OUT/tokenizer"
tokenizer=(--tokenizer-type GPT2BPETokenizer --vocab-file "$OUT/tokenizer/vocab.json" --merge-file "$OUT/tokenizer/merges.txt")

model=(--vision-model-type siglip --encoder-num-layers 3 --img-h 48 --img-w 48 --patch-dim 8
  --num-layers 3 --hidden-size 128 --num-attention-heads 4 --dataloader-seq-length 120 --seq-length 156
  --max-position-embeddings 156 --position-embedding-type rope --attention-dropout 0 --hidden-dropout 0)

# Trains on the conversations of a folder and asks the questions of its other images.
learn() {
  local name=$1
  step "$2"
  show "$MPITRON" pretrain-vlm --data-path "$OUT/$name/train.jsonl" "$OUT/$name/valid.jsonl" "${tokenizer[@]}" "${model[@]}" \
    --init-method-std 0.05 --micro-batch-size 16 --global-batch-size 16 --train-iters "$QUESTION_ITERATIONS" --lr 1e-3 --min-lr 1e-5 \
    --lr-decay-style cosine --lr-warmup-iters 100 --weight-decay 0.05 --clip-grad 1.0 --adam-beta2 0.98 --num-workers 1 \
    --dataloader-type cyclic --log-interval 100 --eval-interval 1000 --eval-iters 4 --save "$OUT/$name-model"
  show "$MPITRON" evaluate --task "jobs/tasks/$3.yaml" --valid-data "$OUT/$name/questions.jsonl" --load "$OUT/$name-model" \
    "${tokenizer[@]}" --output-path "$OUT/$name.json"
}
learn scenes 'a GPT that sees the scenes learns to answer' questions
learn words 'the same GPT without the images' questions_without_images

step 'an answer about one image'
show "$MPITRON" generate --load "$OUT/scenes-model" "${tokenizer[@]}" --image "$OUT/scenes/valid/00000.png" \
  --prompts 'How many red circles?' 'How many blue squares?' --num-tokens-to-generate 4

#!/ usr / bin / env bash
#From nothing to models that see : images drawn here, a ViT that tells shapes apart, \
    and a small vision - language model that counts them
#and reads a word, beside the same model without its images.
#usage : vision_quickstart.sh everything goes below build / vision; \
    nothing else is changed on the machine
#Settings(environment) : MPITRON(the program), OUT, SHAPE_ITERATIONS, QUESTION_ITERATIONS, THREADS.
set - euo pipefail cd "$(dirname " $ {
  BASH_SOURCE[0]
}
")/.."
: "${MPITRON:=build/bin/mpitron}" "${OUT:=build/vision}" "${THREADS:=$(nproc)}"
: "${SHAPE_ITERATIONS:=1500}" "${QUESTION_ITERATIONS:=2500}"
export OMP_NUM_THREADS=$THREADS
mkdir -p "$OUT"

step() {
  printf '\n-- %s\n' "$*";
}
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
tr -d '\\' <"$OUT/scenes/train.jsonl" | head -200 | awk '{gsub(/"/, "\\\""); print "{\"text\": \"" $0 "\"}"}' >"$OUT/text.jsonl"
show "$MPITRON" tokenizer train --input "$OUT/text.jsonl" --vocab-size 320 --output-dir "$OUT/tokenizer"

tokenizer=(--tokenizer-type GPT2BPETokenizer --vocab-file "$OUT/tokenizer/vocab.json" --merge-file "$OUT/tokenizer/merges.txt")
questions() {
  local name = $1 shift show "$MPITRON" pretrain - vlm-- data -
               path
               "$OUT/$name/train.jsonl"
               "$OUT/$name/valid.jsonl"
               "${tokenizer[@]}" --vision -
               model - type siglip-- encoder - num - layers 3 --img - h 48 --img - w 48 --patch -
               dim 8 --num - layers 3 --hidden - size 128 --num - attention - heads 4 --dataloader -
               seq - length 120 --seq - length 160 --max - position - embeddings 160 --position -
               embedding - type rope-- normalization RMSNorm-- attention - dropout 0 --hidden -
               dropout 0 --init - method - std 0.05 --micro - batch - size 16 --global - batch -
               size 16 --train - iters "$QUESTION_ITERATIONS" --lr 1e-3 --min - lr 1e-5 --lr -
               decay - style cosine-- lr - warmup - iters 100 --weight - decay 0.05 --clip -
               grad 1.0 --num - workers 1 --log - interval 100 --eval - interval 1000 --eval -
               iters 4 --save
               "$OUT/$name-model"
               "$@"
}

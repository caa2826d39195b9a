#!/usr/bin/env bash
# Trains 31 configurations on the host for three iterations each, and prints what the allocator of
# rank 0 held at most beside what `mpitron plan --dry-run 0` tells of it, and what `mpitron check`
# tells of the fullest rank beside the dry runs of the first and the last one.
# host_memory.sh PROGRAM [FIRST [LAST]]; ends with 1 where a rank is more than 2 %, or what `check`
# tells more than 10 % off.
set -u
program=$1 first=${2:-1} last=${3:-99}
export OMP_NUM_THREADS=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_mpi_yield_when_idle=1
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

base="--num-layers 4 --hidden-size 256 --num-attention-heads 8 --seq-length 256 --max-position-embeddings 256
  --micro-batch-size 2 --global-batch-size 16 --train-iters 3 --log-interval 3 --eval-iters 0 --lr 1e-4
  --tokenizer-type NullTokenizer --vocab-size 4095 --mock-data"
llama="--swiglu --normalization RMSNorm --disable-bias-linear --position-embedding-type rope
  --untie-embeddings-and-output-weights"
grouped="--group-query-attention --num-query-groups 2"
experts="--num-experts 4 --moe-router-topk 2 --disable-bias-linear --swiglu --moe-token-dispatcher-type alltoall
  --moe-router-load-balancing-type none --moe-router-force-load-balancing"
full="--recompute-granularity full --recompute-method uniform --recompute-num-layers 1"
sharded="--use-distributed-optimizer"
overlap="--overlap-grad-reduce --overlap-param-gather"
fully="--use-megatron-fsdp --data-parallel-sharding-strategy"

configurations=(
  "1|"
  "1|--bf16"
  "1|--bf16 $full"
  "1|--bf16 --recompute-granularity selective"
  "1|--bf16 --recompute-granularity selective --recompute-modules layernorm mlp"
  "1|$llama $grouped"
  "1|--bf16 $llama $grouped --accumulate-allreduce-grads-in-fp32"
  "1|--bf16 $experts"
  "1|--fp16 --hidden-dropout 0 --attention-dropout 0"
  "1|--bf16 $llama --multi-latent-attention --q-lora-rank 64 --kv-lora-rank 32 --qk-layernorm"
  "1|--bf16 $llama --mtp-num-layers 1"
  "2|--bf16 --tensor-model-parallel-size 2"
  "2|--bf16 --tensor-model-parallel-size 2 --sequence-parallel $llama"
  "2|--pipeline-model-parallel-size 2"
  "2|--bf16 --pipeline-model-parallel-size 2 --num-virtual-stages-per-pipeline-rank 2"
  "2|--bf16 --pipeline-model-parallel-size 2 --pipeline-schedule zero-bubble"
  "2|--bf16 --context-parallel-size 2 $llama"
  "2|--bf16 --context-parallel-size 2 --cp-comm-type a2a"
  "2|--bf16"
  "2|--bf16 --overlap-grad-reduce"
  "2|--bf16 $sharded"
  "2|--bf16 $sharded $overlap"
  "2|--bf16 $fully optim_grads_params $sharded --ckpt-format fsdp_dtensor"
  "2|$fully optim_grads $sharded --ckpt-format fsdp_dtensor"
  "2|--bf16 $experts --expert-model-parallel-size 2"
  "2|--bf16 $experts --expert-model-parallel-size 2 $full"
  "4|--bf16 --tensor-model-parallel-size 2 --sequence-parallel --pipeline-model-parallel-size 2 $llama"
  "4|--bf16 --pipeline-model-parallel-size 2 $sharded $overlap $full"
  "4|--bf16 --tensor-model-parallel-size 2 --sequence-parallel --context-parallel-size 2 $llama $grouped"
  "4|--bf16 $experts --expert-model-parallel-size 2 --pipeline-model-parallel-size 2 $sharded"
  "1|--bf16 --seq-length 1024 --max-position-embeddings 1024 --micro-batch-size 1 --global-batch-size 1"
)

# compare WHAT HELD TOLD LIMIT: megabytes; fails where they are more than LIMIT percent apart.
compare() {
  awk -v what="$1" -v held="$2" -v told="$3" -v limit="$4" -v number=$((number + 1)) -v flags="${flags#*--mock-data}" 'BEGIN {
    off = 100 * (told / held - 1)
    printf "%2d %-7s held %8.1f MB, told %8.1f MB, %+6.2f %%  %s\n", number, what, held, told, off, flags
    exit off > limit || off < -limit }'
}

# dry_run RANK: megabytes of its peak, by flags and ranks.
dry_run() {
  # shellcheck disable=SC2086
  "$program" plan $flags --world-size "$ranks" --dry-run "$1" --json |
    sed 's/.*"peak_bytes": \([0-9]*\).*/\1/' | awk '{ print $1 / 1048576 }'
}

failed=0
for number in "${!configurations[@]}"; do
  ((number + 1 < first || number + 1 > last)) && continue
  ranks=${configurations[number]%%|*}
  # shellcheck disable=SC2086,SC2116
  flags=$(echo $base ${configurations[number]#*|})
  # shellcheck disable=SC2086
  if ! mpirun -n "$ranks" "$program" pretrain-gpt $flags >"$folder/log" 2>&1; then
    echo "$((number + 1)): $(grep -m1 error "$folder/log")"
    failed=1
    continue
  fi
  held=$(sed -n 's/.*\[Rank 0\].*max tensors: \([0-9.]*\).*/\1/p' "$folder/log")
  first_rank=$(dry_run 0) last_rank=$(dry_run $((ranks - 1)))
  compare "rank 0" "$held" "$first_rank" 2 || failed=1
  # shellcheck disable=SC2086
  told=$("$program" check $flags --world-size "$ranks" --no-files |
    sed -n 's/.*fullest rank: \([0-9.]*\) MB .*, \([0-9.]*\) MB activations.*/\1 + \2/p')
  fullest=$(printf '%s\n' "$first_rank" "$last_rank" | sort -g | tail -n 1)
  compare check "$fullest" "$(awk "BEGIN { print $told }")" 10 || failed=1
done
exit $failed

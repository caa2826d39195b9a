#!/usr/bin/env bash
# Holds predicted steps against measured ones on this host: measures its kernels on one and two ranks,
# predicts twelve runs with them, and trains each for a few iterations. Nothing else may run meanwhile.
# host_times.sh PROGRAM MACHINE.yaml calibrate | FIRST [LAST]; ends with 1 where a step is more than 10 % off.
set -u
program=$1 machine=$2 first=${3:-1} last=${4:-${3:-12}}
export OMP_NUM_THREADS=1 OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_mpi_yield_when_idle=1

if [ "$first" = calibrate ]; then
  mpirun -n 1 "$program" doctor --calibrate --machine-out "$machine" &&
    mpirun -n 2 "$program" doctor --calibrate --machine-out "$machine"
  exit
fi

base="--train-iters 5 --log-interval 1 --eval-iters 0 --lr 1e-4 --tokenizer-type NullTokenizer --mock-data --micro-batch-size 1"
gpt2="$base --num-layers 12 --hidden-size 768 --num-attention-heads 12 --seq-length 256 --max-position-embeddings 256
  --global-batch-size 2 --vocab-size 50256"
llama="$base --num-layers 6 --hidden-size 512 --num-attention-heads 8 --group-query-attention --num-query-groups 2
  --seq-length 512 --max-position-embeddings 512 --global-batch-size 4 --vocab-size 32767 --swiglu --normalization RMSNorm
  --disable-bias-linear --position-embedding-type rope --untie-embeddings-and-output-weights --hidden-dropout 0
  --attention-dropout 0 --bf16"

configurations=(
  "1|$gpt2"
  "1|$gpt2 --bf16"
  "2|$gpt2 --tensor-model-parallel-size 2"
  "2|$gpt2 --pipeline-model-parallel-size 2"
  "2|$gpt2"
  "2|$gpt2 --bf16 --use-distributed-optimizer"
  "1|$llama"
  "1|$llama --micro-batch-size 4"
  "1|$llama --recompute-granularity full --recompute-method uniform --recompute-num-layers 1"
  "2|$llama --tensor-model-parallel-size 2 --sequence-parallel"
  "2|$llama --pipeline-model-parallel-size 2"
  "2|$llama --context-parallel-size 2"
)

failed=0
for ((number = first; number <= last; ++number)); do
  ranks=${configurations[number - 1]%%|*}
  # shellcheck disable=SC2086,SC2116
  flags=$(echo ${configurations[number - 1]#*|})
  # shellcheck disable=SC2086
  told=$("$program" plan $flags --machine "$machine" --world-size "$ranks" --json | sed 's/.*"step_s": \([0-9.e-]*\).*/\1/')
  # The median of the iterations behind the first two.
  # shellcheck disable=SC2086
  measured=$(mpirun -n "$ranks" "$program" pretrain-gpt $flags 2>&1 |
    sed -n 's/.*elapsed time per iteration (ms): *\([0-9.]*\).*/\1/p' | tail -n +3 | sort -n | sed -n 2p)
  awk -v n="$number" -v ranks="$ranks" -v told="$told" -v measured="$measured" -v flags="${flags#*--micro-batch-size 1}" 'BEGIN {
    off = 100 * (1000 * told / measured - 1)
    printf "%2d %d ranks: told %8.1f ms, measured %8.1f ms, %+6.1f %%  %s\n", n, ranks, 1000 * told, measured, off, flags
    exit off > 10 || off < -10 }' || failed=1
done
exit $failed

#!/usr/bin/env bash
# Slurm takes every sbatch file (on a partition of 128 nodes with 8 GPUs that are switched off), and mpitron its flags.
# shellcheck source=tests/slurm/support.sh
. "$(dirname "${BASH_SOURCE[0]}")/support.sh"
start_cluster 1 8 'NodeName=dgx[001-128] CPUs=112 Gres=gpu:8 State=CLOUD' 'PartitionName=dgx Nodes=dgx[001-128] State=UP'

cd "$home"
for file in jobs/*/*.sbatch; do
  printf '%s\n' "$file"
  sbatch --test-only --partition=dgx "$file" || fail "$file: Slurm refuses it"
done
for file in jobs/train/*.sbatch; do
  nodes=$(sed -n 's/^#SBATCH .*--nodes=\([0-9]*\).*/\1/p' "$file")
  tasks=$(sed -n 's/^#SBATCH .*--ntasks-per-node=\([0-9]*\).*/\1/p' "$file")
  printf '%s on %d ranks: ' "$file" $((nodes * tasks))
  SLURM_NTASKS=$((nodes * tasks)) MPITRON_DRY_RUN=1 bash "$file" >"$work/words.out" || fail "$file: mpitron refuses its flags: $(cat "$work/words.out")"
  head -1 "$work/words.out"
  grep -qx -e "--ntasks=$((nodes * tasks))" "$work/words.out" || fail "$file: srun does not get all tasks"
done

#!/usr/bin/env bash
# srun on two nodes and mpirun on this host print the same digits and leave the same bits.
# shellcheck source=tests/slurm/support.sh
. "$(dirname "${BASH_SOURCE[0]}")/support.sh"
start_cluster 2

results() { sed -n 's/.*| learning rate:/learning rate:/p' "$1"; }

srun --mpi=pmix --nodes=2 --ntasks-per-node=2 "$MPITRON" pretrain-gpt "${tiny_flags[@]}" --exit-interval 20 --save "$run" >srun.out
mpirun --oversubscribe --bind-to none -n 4 "$MPITRON" pretrain-gpt "${tiny_flags[@]}" --exit-interval 20 --save "$work/whole" >mpirun.out
[ "$(results srun.out | wc -l)" -eq 20 ] || fail "srun's run did not train 20 iterations"
diff <(results srun.out) <(results mpirun.out) || fail "srun and mpirun print other digits"
"$MPITRON" inspect "$run" "$work/whole" || fail "srun and mpirun leave other bits"

#!/usr/bin/env bash
# srun without PMIx is refused before anything is written; doctor sees all nodes; Slurm takes what `mpitron job write` writes.
# shellcheck source=tests/slurm/support.sh
. "$(dirname "${BASH_SOURCE[0]}")/support.sh"
start_cluster 2

for mpi in none pmi2; do
  code=0
  srun "--mpi=$mpi" --nodes=2 --ntasks-per-node=2 "$MPITRON" pretrain-gpt "${tiny_flags[@]}" --save "$run" >refused.out 2>&1 || code=$?
  [ "$code" -eq 3 ] || fail "srun --mpi=$mpi ended with code $code: $(cat refused.out)"
  [ "$(grep -c 'started 4 tasks that MPI' refused.out)" -eq 1 ] || fail "srun --mpi=$mpi does not say why, once: $(cat refused.out)"
  grep -q 'srun --mpi=pmix' refused.out || fail "srun --mpi=$mpi does not name the fix"
  [ ! -e "$run" ] || fail "srun --mpi=$mpi wrote $run"
done

# Exit code 3 is allowed: this host may be short of something else.
srun --mpi=pmix --nodes=2 --ntasks-per-node=2 "$MPITRON" doctor --json --no-speed >doctor.out 2>doctor.err || [ $? -eq 3 ]
for part in 'MPI connects 4 ranks' '"name": "slurm pmix", "verdict": "ok"' '"name": "munge", "verdict": "ok"' 'ranks 0-3 on node[1-2], 2 each'; do
  grep -qF -e "$part" doctor.out || fail "doctor does not say $part: $(cat doctor.out doctor.err)"
done

printf 'gpus_per_node=2 cores_per_node=2 max_nodes=2\n' >small.sh
"$MPITRON" job write --cluster ./small.sh --home "$home" "${tiny_flags[@]}" --device host --world-size 4 --save "$run" --output job.sbatch
sbatch --test-only job.sbatch || fail "Slurm refuses what job write wrote: $(cat job.sbatch)"
code=0
"$MPITRON" job write --cluster ./small.sh --home "$home" "${tiny_flags[@]}" --world-size 6 --save "$run" 2>/dev/null || code=$?
[ "$code" -eq 2 ] || fail "6 ranks on nodes of 2 are 3 nodes, of which there are 2: code $code"

# shellcheck shell=bash disable=SC2034 # launch.sh reads these
# A cluster with Slurm whose MPI speaks PMIx (`srun --mpi=list` shows pmix), as many tasks per node as its script says.
launcher=srun
mpi=pmix
gpus_per_node=8  # what `mpitron job write` counts nodes by
cores_per_node=64
launcher_flags=(--distribution=block:block --cpu-bind=cores)

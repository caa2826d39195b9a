# shellcheck shell=bash disable=SC2034 # launch.sh reads these
# Nodes of 8 H100 and two processors of 56 cores: a rank for each GPU, 14 cores for each rank, one processor for ranks 0-3 and the
# other for 4-7. Every rank sees all GPUs of its node and takes its own, so that neighbours can reach each other's memory.
launcher=srun
mpi=pmix
gpus_per_node=8
cores_per_node=112
launcher_flags=(--distribution=block:block --cpu-bind=cores --cpus-per-task=14 --gpu-bind=none)

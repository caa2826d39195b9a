# shellcheck shell=bash disable=SC2034 # launch.sh reads these
# One machine without Slurm, or a job whose Slurm knows no PMIx: mpirun starts the ranks. More of them than cores are allowed.
launcher=mpirun
gpus_per_node=1
cores_per_node=$(nproc)
launcher_flags=(--oversubscribe --bind-to none --mca mpi_yield_when_idle 1)
if [ "$(id -u)" -eq 0 ]; then
  launcher_flags+=(--allow-run-as-root)
fi

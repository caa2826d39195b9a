#!/usr/bin/env bash
# One step of mpitron on all ranks of a job. The only place that knows how srun and mpirun want to be called.
# usage: launch.sh [--print] COMMAND FLAGS...     --print: show the words, one a line, quoted for a shell; run nothing
#
# What differs between sites stands in clusters/NAME.sh. From the environment:
#   MPITRON_CLUSTER           NAME (default: generic), or the path of such a file
#   MPITRON                   the program (default: build/bin/mpitron beside this folder, or the installed one; in a container: mpitron)
#   MPITRON_RANKS             ranks of this step (default: one for each task of the job; without a job: one)
#   MPITRON_CONTAINER         image for pyxis: a .sqsh file (container/import.sh makes one); empty: no container
#   MPITRON_CONTAINER_MOUNTS  FROM:TO,... besides the working folder
set -euo pipefail
home=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

only_print=
if [ "${1:-}" = --print ]; then
  only_print=yes
  shift
fi
if [ $# -eq 0 ]; then
  sed -n '2,/^set /s/^# \{0,1\}//p' "${BASH_SOURCE[0]}"
  exit 2
fi

cluster=${MPITRON_CLUSTER:-generic}
case $cluster in
  */*) ;;
  *) cluster=$home/jobs/clusters/$cluster.sh ;;
esac
if [ ! -e "$cluster" ]; then
  printf 'launch: there is no %s; MPITRON_CLUSTER is a path or one of: %s\n' "$cluster" \
    "$(cd "$home/jobs/clusters" && printf '%s ' *.sh | sed 's/\.sh//g')" >&2
  exit 3
fi
launcher=srun mpi=pmix launcher_flags=()
# shellcheck source=jobs/clusters/generic.sh
. "$cluster"

container=${MPITRON_CONTAINER:-}
program=$home/build/bin/mpitron
[ -x "$program" ] || program=$home/../../bin/mpitron   # installed: PREFIX/share/mpitron/jobs, PREFIX/bin
program=${MPITRON:-$program}
if [ -n "$container" ]; then
  program=${MPITRON:-mpitron}
  # Inside, munge's socket and PMIx's shared memory store of the host are missing.
  export PMIX_MCA_psec=${PMIX_MCA_psec:-native} PMIX_MCA_gds=${PMIX_MCA_gds:-hash}
fi
export OMP_NUM_THREADS=${OMP_NUM_THREADS:-${SLURM_CPUS_PER_TASK:-1}}
if [ -n "${SLURM_CPUS_PER_TASK:-}" ]; then
  export SRUN_CPUS_PER_TASK=$SLURM_CPUS_PER_TASK # srun does not take the job's by itself
fi

# SLURM_JOB_END_TIME: seconds since 1970, by which a run must have saved. Older versions of Slurm do not set it.
know_job_end() {
  local end
  if [ -z "${SLURM_JOB_END_TIME:-}" ] && [ -n "${SLURM_JOB_ID:-}" ] && end=$(squeue -h -j "$SLURM_JOB_ID" -o %e 2>/dev/null); then
    SLURM_JOB_END_TIME=$(date -d "$end" +%s 2>/dev/null) || SLURM_JOB_END_TIME= # no limit: "N/A"
    export SLURM_JOB_END_TIME
  fi
}

words=()
case $launcher in
  srun)
    ranks=${MPITRON_RANKS:-${SLURM_NTASKS:-1}}
    words=(srun "--mpi=$mpi" "--ntasks=$ranks" --kill-on-bad-exit=1 --wait=60 ${launcher_flags[@]+"${launcher_flags[@]}"})
    if [ -n "$container" ]; then
      words+=("--container-image=$container" "--container-mounts=$PWD:$PWD${MPITRON_CONTAINER_MOUNTS:+,$MPITRON_CONTAINER_MOUNTS}"
        "--container-workdir=$PWD" --no-container-mount-home)
    fi
    [ -n "$only_print" ] || know_job_end
    ;;
  mpirun)
    if [ -n "$container" ]; then
      printf 'launch: MPITRON_CONTAINER needs pyxis, which needs Slurm; the cluster file %s uses mpirun\n' "$cluster" >&2
      exit 3
    fi
    words=(mpirun -n "${MPITRON_RANKS:-${SLURM_NTASKS:-1}}" ${launcher_flags[@]+"${launcher_flags[@]}"})
    ;;
  *)
    printf 'launch: %s: launcher=%s is neither srun nor mpirun\n' "$cluster" "$launcher" >&2
    exit 3
    ;;
esac
words+=("$program" "$@")

if [ -n "$only_print" ]; then
  printf '%q\n' "${words[@]}"
else
  exec "${words[@]}"
fi

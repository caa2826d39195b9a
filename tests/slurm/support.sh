# shellcheck shell=bash
# Sourced by the tests (NAME_test.sh PROGRAM): a Slurm of their own, a run of a tiny model as a user's job, waiting for states.
# Nothing here waits for a time: the only clock is the limit of the whole test (tests/CMakeLists.txt).
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
home=$(cd "$here/../.." && pwd)
export MPITRON=$1 MPITRON_HOME=$home
export OMP_NUM_THREADS=1 OMP_WAIT_POLICY=passive OMPI_MCA_mpi_yield_when_idle=1
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1

work=$(mktemp -d "${TMPDIR:-/tmp}/mpitron-slurm-XXXXXX")
chmod 755 "$work" # munge wants to be reached
run=$work/run
cd "$work"
clean_up() {
  status=$?
  if [ $status -ne 0 ] && [ $status -ne 77 ]; then
    tail -n 40 "$work"/*.out "$work"/cluster/log/slurmctld.log 2>/dev/null || true
  fi
  bash "$here/cluster.sh" down "$work/cluster" || true
  rm -rf "$work"
  exit $status
}
trap clean_up EXIT
trap 'exit 143' TERM INT

fail() {
  printf 'FAILED: %s\n' "$*" >&2
  exit 1
}

start_cluster() { # NODES [GPUS [LINE...]]
  SLURM_CONF=$(bash "$here/cluster.sh" up "$work/cluster" "$@")
  export SLURM_CONF
}

# A model of 30 000 parameters, of whose training nobody waits for the end. Short sequences of made-up data take long to shuffle.
tiny_flags=(--num-layers 2 --hidden-size 32 --num-attention-heads 4 --seq-length 64 --max-position-embeddings 64
  --micro-batch-size 2 --global-batch-size 4 --lr 1e-3 --train-iters 100000 --attention-dropout 0.1 --hidden-dropout 0.1
  --mock-data --tokenizer-type NullTokenizer --vocab-size 63 --eval-iters 0 --log-interval 1
  --tensor-model-parallel-size 2)
save_flags=(--save "$run" --load "$run" --allow-random-init --save-interval 20 --save-keep-last 3 --exit-signal-handler)

# train.sbatch of 2 nodes with two ranks each, with more #SBATCH words and flags: submit "SBATCH WORDS" FLAGS...
submit() {
  {
    printf '#!/usr/bin/env bash\n#SBATCH --nodes=2 --ntasks-per-node=2 --output=%s/train.out --open-mode=append --requeue %s\n' "$work" "$1"
    printf 'exec %q/jobs/supervise.sh pretrain-gpt' "$home"
    printf ' %q' "${tiny_flags[@]}" "${save_flags[@]}" "${@:2}"
    printf '\n'
  } >train.sbatch
  job=$(sbatch --parsable train.sbatch)
}

field() { sed -n "s/^  \"$1\": \"\{0,1\}\([^\",]*\).*/\1/p" "$run/run_state.json" 2>/dev/null || true; }
state() { field state; }
saved() { field saved_iteration | sed 's/null//'; }
job_state() { scontrol -o show job "$job" | sed -n 's/.* JobState=\([A-Z_]*\).*/\1/p'; }

wait_until() { # CONDITION WORDS...
  until "$@"; do
    sleep 0.1
  done
}
has_saved_beyond() { [ -n "$(saved)" ] && [ "$(saved)" -gt "$1" ]; }
says() { grep -q -e "$1" train.out 2>/dev/null; }
has_ended() { case $(job_state) in COMPLETED | FAILED | CANCELLED | TIMEOUT | NODE_FAIL) ;; *) false ;; esac; }

# Lets the job train on from its newest checkpoint, asks it to stop, waits for its end.
finish_job() {
  wait_until has_saved_beyond "${1:-0}"
  touch "$run/STOP"
  wait_until has_ended
  [ "$(job_state)" = COMPLETED ] || fail "the job ended as $(job_state)"
  [ "$(state)" = finished ] || fail "run_state.json says $(state)"
}

# The run in $run, which ended at some iteration, has the bits of one that nothing interrupted.
expect_bits_of_uninterrupted_run() {
  local last
  last=$(field iteration)
  mpirun --oversubscribe --bind-to none -n 4 "$MPITRON" pretrain-gpt "${tiny_flags[@]}" --save "$work/whole" --exit-interval "$last" \
    --log-interval 100000 >whole.out 2>&1 || fail "the uninterrupted run did not end well"
  [ "$last" -eq "$(saved)" ] || fail "iteration $last was not saved"
  "$MPITRON" inspect "$run" "$work/whole" || fail "the interrupted run ended with other bits"
}

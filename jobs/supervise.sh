#!/usr/bin/env bash
# A training as a batch job: the last line of an sbatch script is `exec supervise.sh COMMAND FLAGS...`. It checks the flags, then
# launches steps (launch.sh) and does what run_state.json, in the folder of --save, says at the end of each:
#   finished                        ends with exit code 0
#   preempted                       (time limit, signal, file REQUEUE) requeues the job
#   failed-fatal                    ends with the program's exit code
#   failed-retryable, or no word    starts again from the newest checkpoint, in this allocation; the second time, or if a node does
#                                   not answer or a result must be computed elsewhere (16), requeues the job for other nodes
# After MPITRON_STARTS (3) starts without a newer checkpoint it gives up: nothing goes round for ever.
# A job's script should ask for --requeue --open-mode=append --signal=B:USR1@300; USR1 and USR2 are passed on to the ranks.
# usage: supervise.sh COMMAND FLAGS...     MPITRON_DRY_RUN=1: check the flags, show the step's words, run nothing
set -uo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)

say() { printf '%s supervise: %s\n' "$(date +%FT%T)" "$*"; }

# The value of --NAME among the flags: `--NAME VALUE` or `--NAME=VALUE`, the last one.
value_of() {
  local name=$1 value=
  shift
  while [ $# -gt 0 ]; do
    case $1 in
      "$name="*) value=${1#*=} ;;
      "$name") value=${2:-} ;;
    esac
    shift
  done
  printf '%s' "$value"
}

save=$(value_of --save "$@")
if [ -z "$save" ]; then
  say "--save DIR is missing: without checkpoints there is nothing to go on from" >&2
  exit 2
fi
state=$save/run_state.json

# A code of the file as a shell takes it: 1 for anything that is no number from 0 to 255.
exit_code_of_file() {
  local found
  found=$(field exit_code)
  case $found in '' | *[!0-9]* | ????*) found=1 ;; esac
  [ "$found" -le 255 ] && printf '%s' "$found" || printf 1
}

field() { sed -n "s/^  \"$1\": \"\{0,1\}\([^\",]*\).*/\1/p" "$state" 2>/dev/null; }

# All mistakes of the flags at once, before any rank starts. The ranks do it where this host has no program (a container) or not all
# options (they come from a checkpoint). A dry run checks the flags alone: the files may not be there yet.
check() {
  local files=()
  [ -z "${MPITRON_DRY_RUN:-}" ] || files=(--no-files)
  local program=$here/../build/bin/mpitron
  [ -x "$program" ] || program=$here/../../../bin/mpitron
  program=${MPITRON:-$program}
  case " $* " in *' --use-checkpoint-args '*) return ;; esac
  [ -n "${MPITRON_CONTAINER:-}" ] ||
    "$program" check "${files[@]}" --model "${1#pretrain-}" "${@:2}" --world-size "${MPITRON_RANKS:-${SLURM_NTASKS:-1}}"
}

# Notes a start; false after too many of them with the same newest checkpoint.
count_start() {
  local before=''
  newest=$(field saved_iteration)
  newest=${newest:-none} starts=0
  [ ! -e "$save/starts.txt" ] || read -r before starts <"$save/starts.txt"
  [ "$before" = "$newest" ] || starts=0
  [ $((starts += 1)) -le "${MPITRON_STARTS:-3}" ] &&
    printf '%s %s\n' "$newest" "$starts" >"$save/starts.txt.new" && mv "$save/starts.txt.new" "$save/starts.txt"
}

signalled='' step=''
# shellcheck disable=SC2317 # the traps call it
pass_on() {
  signalled=$1
  say "SIG$1 goes to the ranks"
  [ -z "$step" ] || kill -s "$1" "$step"
}
trap 'pass_on USR1' USR1
trap 'pass_on USR2' USR2
trap 'signalled=TERM' TERM # the ranks get it from Slurm

# `wait` returns early when a signal arrives.
run_step() {
  "$here/launch.sh" "$@" &
  step=$!
  while :; do
    wait "$step"
    code=$?
    kill -0 "$step" 2>/dev/null || break
  done
  step=''
}

# True where Slurm cannot end the last step: a node does not answer, and no step can be started beside it.
step_is_stuck() {
  local turn
  [ -n "${SLURM_JOB_ID:-}" ] || return 1
  for ((turn = 0; turn < 10; turn++)); do
    squeue --noheader --steps --jobs="$SLURM_JOB_ID" --format=%i | grep -q '\.[0-9]' || return 1
    sleep 1
  done
}

# Ends this run of the job; Slurm starts it again.
requeue() {
  if [ -z "${SLURM_JOB_ID:-}" ]; then
    say "not a Slurm job: call this again to go on"
  elif [ "$signalled" = TERM ]; then
    say "Slurm ends this job (scancel, preemption); it is not requeued from here"
  elif scontrol requeue "$SLURM_JOB_ID"; then
    say "job $SLURM_JOB_ID is requeued"
  else
    say "job $SLURM_JOB_ID cannot be requeued (no --requeue?): submit it again to go on" >&2
  fi
  exit 85
}

check "$@" || exit
if [ -n "${MPITRON_DRY_RUN:-}" ]; then
  exec "$here/launch.sh" --print "$@"
fi
mkdir -p "$save" || exit 4
[ "${SLURM_RESTART_COUNT:-0}" -gt 0 ] || rm -f "$save/starts.txt" # somebody submitted it
while count_start; do
  before=$(cat "$state" 2>/dev/null)
  say "job ${SLURM_JOB_ID:--}, restart ${SLURM_RESTART_COUNT:-0}, start $starts from checkpoint $newest"
  run_step "$@"
  end=$(field state)
  [ "$(cat "$state" 2>/dev/null)" != "$before" ] || end='' # this step did not come to write it
  say "step ended with code $code${signalled:+ after SIG$signalled}; ${end:-not begun}${end:+ at iteration $(field iteration)}"
  case $end in
    finished) exit 0 ;;
    failed-fatal) exit "$(exit_code_of_file)" ;;
    preempted) requeue ;;
    *)
      [ "$code" -ne 2 ] && [ "$code" -ne 4 ] || exit "$code" # flags or data: the next start would tell the same
      if [ -n "$signalled" ] || [ "$end $(field exit_code)" = 'failed-retryable 16' ] || [ "$starts" -gt 1 ] || step_is_stuck; then
        requeue
      fi
      ;;
  esac
done
say "giving up: ${MPITRON_STARTS:-3} starts without a newer checkpoint than $newest" >&2
exit 1

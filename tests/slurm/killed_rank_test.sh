#!/usr/bin/env bash
# A killed rank ends the step; the batch script starts it again from the newest checkpoint, in the same allocation.
# shellcheck source=tests/slurm/support.sh
. "$(dirname "${BASH_SOURCE[0]}")/support.sh"
start_cluster 2 0 'KillWait=10'

submit ''
wait_until has_saved_beyond 0
for process in $(pgrep -f "pretrain-gpt.*$run"); do
  if tr '\0' '\n' <"/proc/$process/environ" 2>/dev/null | grep -qx PMIX_RANK=1 && [ "$(readlink "/proc/$process/exe")" -ef "$MPITRON" ]; then
    kill -KILL "$process"
  fi
done
wait_until says 'step ended with code'
finish_job "$(saved)"
says 'restart 1' && fail "a restart was not needed"
[ "$(grep -c 'start 1 from checkpoint' train.out)" -eq 2 ] || fail "there should have been two steps"
expect_bits_of_uninterrupted_run

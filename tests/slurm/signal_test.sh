#!/usr/bin/env bash
# USR1 to the batch script (what --signal=B:USR1@N sends) and REQUEUE in the run's folder lead to a save and a requeue.
# shellcheck source=tests/slurm/support.sh
. "$(dirname "${BASH_SOURCE[0]}")/support.sh"
start_cluster 2

submit '' --adlr-autoresume --adlr-autoresume-interval 1
wait_until has_saved_beyond 0
scancel --batch --signal=USR1 "$job"
wait_until says 'restart 1, start 1'
wait_until has_saved_beyond "$(saved)"
touch "$run/REQUEUE"
wait_until says 'restart 2, start 1'
finish_job "$(saved)"
[ "$(grep -c 'preempted at iteration' train.out)" -eq 2 ] || fail "two steps should have been preempted"
expect_bits_of_uninterrupted_run

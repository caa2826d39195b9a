#!/usr/bin/env bash
# A job with a limit of one minute saves, requeues itself, goes on, and ends with the bits of a run that nothing interrupted.
# shellcheck source=tests/slurm/support.sh
. "$(dirname "${BASH_SOURCE[0]}")/support.sh"
start_cluster 2

# Slurm looks at limits every 30 seconds. Until it sends USR1 the ranks stand still, so that there is little to compute twice.
submit '--time=1 --signal=B:USR1@60'
wait_until has_saved_beyond 0
scancel --signal=STOP "$job" || true # a slow machine: the first step is over
wait_until says 'SIGUSR1 goes to the ranks'
scancel --signal=CONT "$job" || true
wait_until says 'exiting program'
wait_until says 'restart 1'
finish_job "$(saved)"
says 'preempted at iteration' || fail "the first step was not preempted"
expect_bits_of_uninterrupted_run

#!/usr/bin/env bash
# scancel lets the run save; the job does not come back.
# shellcheck source=tests/slurm/support.sh
. "$(dirname "${BASH_SOURCE[0]}")/support.sh"
start_cluster 2

submit ''
wait_until has_saved_beyond 0
scancel "$job"
wait_until has_ended
[ "$(job_state)" = CANCELLED ] || fail "the job ended as $(job_state)"
[ "$(state)" = preempted ] || fail "run_state.json says $(state)"
[ "$(saved)" -eq "$(field iteration)" ] || fail "iteration $(field iteration) was not saved"
says 'receiving SIGTERM' || fail "no rank told of SIGTERM"
"$MPITRON" verify "$run" || fail "the checkpoint is not whole"

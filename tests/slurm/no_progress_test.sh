#!/usr/bin/env bash
# A run that dies again and again at the same checkpoint is given up; a mistake is told at once.
# shellcheck source=tests/slurm/support.sh
. "$(dirname "${BASH_SOURCE[0]}")/support.sh"
start_cluster 2

submit '' --lr -1
wait_until has_ended
[ "$(job_state)" = FAILED ] || fail "the job with a mistake ended as $(job_state)"
says E048 || fail "the mistake is not named"
rm train.out

# What ends at once and says nothing.
cat >silent <<'EOF'
#!/bin/sh
[ "$1" = check ] || exit 9
EOF
chmod +x silent
MPITRON=$work/silent submit ''
wait_until has_ended
[ "$(job_state)" = FAILED ] || fail "the job without progress ended as $(job_state)"
says 'giving up: 3 starts' || fail "nobody gave up"
[ "$(grep -c 'from checkpoint none' train.out)" -eq 3 ] || fail "there should have been three starts"
says 'restart 1' || fail "the third start should have been of a requeued job"

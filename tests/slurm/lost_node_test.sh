#!/usr/bin/env bash
# A node falls silent, and Slurm is too patient to see it: our watchdog ends the step, and the job goes on, on other nodes.
# shellcheck source=tests/slurm/support.sh
. "$(dirname "${BASH_SOURCE[0]}")/support.sh"
start_cluster 3 0 'SlurmdTimeout=600' 'KillWait=10'

submit '--time=30' --distributed-timeout-minutes 0.15
wait_until has_saved_beyond 0
bash "$here/cluster.sh" lose "$work/cluster" node2
wait_until says 'is requeued'
# As Slurm does after SlurmdTimeout, which is longer than a credential lives: node1 refuses the job while it remembers the old one.
sleep 8
scontrol update nodename=node2 state=down reason=lost
wait_until says 'restart 1'
says 'has not arrived within --distributed-timeout-minutes' || says 'has ended; rank' || fail "our watchdog said nothing"
finish_job "$(saved)"
expect_bits_of_uninterrupted_run

#!/usr/bin/env bash
# What launch.sh calls, and what supervise.sh does with the end of a step, without a Slurm: a made-up program plays the run.
# shellcheck source=tests/slurm/support.sh
. "$(dirname "${BASH_SOURCE[0]}")/support.sh"

words() { "$home/jobs/launch.sh" --print pretrain-gpt --save "a b" | tr '\n' ' '; }
expect_words() { # PATTERN TEXT
  # shellcheck disable=SC2053 # a pattern
  [[ $2 == $1 ]] || fail "expected the words $1, got $2"
}
expect_words "srun --mpi=pmix --ntasks=1 * pretrain-gpt --save a\\\\ b " "$(words)"
expect_words "mpirun -n 5 * pretrain-gpt *" "$(MPITRON_CLUSTER=local MPITRON_RANKS=5 words)"
expect_words "mpirun -n 1 * pretrain-gpt *" "$(MPITRON_CLUSTER=$home/jobs/clusters/local.sh words)"
expect_words "srun * --gpu-bind=none *" "$(MPITRON_CLUSTER=dgx-h100 words)"
expect_words "srun * --container-image=/x.sqsh --container-mounts=$PWD:$PWD*/data:/data --container-workdir=$PWD --no-container-mount-home *" \
  "$(MPITRON_CONTAINER=/x.sqsh MPITRON_CONTAINER_MOUNTS=/data:/data words)"
expect_code() { # CODE COMMAND...
  local code=0
  "${@:2}" >step.out 2>&1 || code=$?
  [ $code -eq "$1" ] || fail "${*:2}: exit code $code instead of $1: $(cat step.out)"
}
expect_code 3 env MPITRON_CLUSTER=elsewhere "$home/jobs/launch.sh" pretrain-gpt
grep -q 'one of: dgx-h100 generic local' step.out || fail "the clusters are not listed"
expect_code 3 env MPITRON_CLUSTER=local MPITRON_CONTAINER=x "$home/jobs/launch.sh" pretrain-gpt
expect_code 2 "$home/jobs/supervise.sh" pretrain-gpt --load x
grep -q -e '--save DIR is missing' step.out || fail "--save is not asked for"

# Start n of this program does line n of the file `plan`: STATE ITERATION EXIT_CODE, or `crash`.
cat >player <<'PLAYER'
#!/usr/bin/env bash
[ "$1" != check ] || exit 0
read -r state iteration code <<<"$(head -1 plan)"
sed -i 1d plan
[ "$state" != crash ] || exit 9
printf '{\n  "state": "%s",\n  "iteration": %s,\n  "consumed_train_samples": 0,\n  "saved_iteration": %s,\n  "exit_code": %s,\n  "reason": ""\n}\n' \
  "$state" "$iteration" "$iteration" "$code" >run/run_state.json
exit "$code"
PLAYER
chmod +x player
play() { # CODE LINES...
  rm -rf run
  printf '%s\n' "${@:2}" >plan
  expect_code "$1" env MPITRON="$work/player" MPITRON_CLUSTER=local "$home/jobs/supervise.sh" pretrain-gpt --save run
  [ ! -s plan ] || fail "these starts did not happen: $(cat plan)"
}
play 0 'finished 4 0'
play 17 'failed-fatal 2 17'
play 85 'preempted 2 85' # outside of Slurm nobody can requeue
play 0 'crash' 'finished 4 0'
play 0 'failed-retryable 2 3' 'failed-retryable 4 3' 'finished 8 0' # with progress it may fail for ever
play 85 'crash' 'crash'                # twice at one checkpoint: elsewhere
play 85 'failed-retryable 2 16'        # a rejected result is computed again elsewhere

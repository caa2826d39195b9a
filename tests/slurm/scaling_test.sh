#!/usr/bin/env bash
# The points of a scaling study are jobs of their own; the report has the figures of each.
# shellcheck source=tests/slurm/support.sh
. "$(dirname "${BASH_SOURCE[0]}")/support.sh"
start_cluster 2

cat >study.yaml <<'END'
name: two points
kind: weak
warm-up: 1
flags: {num-layers: 2, hidden-size: 32, num-attention-heads: 4, seq-length: 16, max-position-embeddings: 16,
  micro-batch-size: 2, lr: 1e-3, train-iters: 4, mock-data: true, tokenizer-type: NullTokenizer, vocab-size: 63, eval-iters: 0}
points:
  - {name: one, ranks: 1, flags: {global-batch-size: 4}}
  - {name: two, ranks: 2, flags: {global-batch-size: 8}}
END
study=(study.yaml --launcher sbatch --launch-script "$home/jobs/launch.sh")
"$MPITRON" scaling run "${study[@]}"
nothing_runs() { [ -z "$(squeue --noheader)" ]; }
wait_until nothing_runs
"$MPITRON" scaling report "${study[@]}"
for point in one,1 two,2; do
  grep -q "^$point,[0-9]" scaling/study/report.csv || {
    cat scaling/study/*/log.txt
    fail "there are no figures of the point $point"
  }
done

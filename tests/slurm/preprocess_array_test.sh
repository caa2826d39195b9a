#!/usr/bin/env bash
# A job array makes token files from a corpus in pieces; together they are what one run makes of all.
# shellcheck source=tests/slurm/support.sh
. "$(dirname "${BASH_SOURCE[0]}")/support.sh"
start_cluster 2

ids=(--tokenizer-type NullTokenizer --vocab-size 63 --append-eod)
for part in 0 1 2 3 4; do
  for line in 1 2 3 4; do
    printf '{"text": "%d %d %d"}\n' $part $line $((part * 7 + line))
  done >part$part.jsonl
done
job=$(sbatch --parsable --array=0-2 --cpus-per-task=1 "$home/jobs/data/preprocess.sbatch" "$work/parts" "${ids[@]}" -- "$work"/part?.jsonl)
sbatch --wait --dependency="afterok:$job" --output=merge.out \
  --wrap "$(printf '%q merge-datasets --input %q --output-prefix %q' "$MPITRON" "$work/parts" "$work/joined")" >/dev/null
"$MPITRON" preprocess --input "$work"/part?.jsonl --output-prefix whole "${ids[@]}" >/dev/null
for kind in bin idx; do
  cmp joined.$kind whole_text_document.$kind || fail "the parts are not the whole"
done

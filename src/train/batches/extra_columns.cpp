// Joins numbers of other models to a batch. Rows are looked up by a hash of their tokens and loss
// mask, so the files do not depend on shuffling or layout.
#include "train/batches/extra_columns.h"

#include <algorithm>

#include "models/gpt/gpt_batch.h"
#include "utils/error.h"

namespace mpitron::train {

bool ExtraColumns::Row::counts() const {
  return std::ranges::any_of(weights, [](float weight) { return weight != 0; });
}

/// Adds the columns of a batch. A row that the teacher's file lacks ends the run; the reference's
/// were all computed before it.
void ExtraColumns::add(const data::Batch& batch, models::Columns& columns) {
  if (!reference_ && !teacher_) {
    return;
  }
  const auto s = static_cast<std::size_t>(batch.seq_length);
  std::vector<Row> rows;
  for (std::size_t begin = 0; begin < batch.tokens.size(); begin += s) {
    rows.push_back(
        {std::span(batch.tokens).subspan(begin, s), std::span(batch.loss_mask).subspan(begin, s)});
  }
  if (reference_) {
    add_reference(rows, columns);
  }
  if (teacher_) {
    add_teacher(rows, columns);
  }
}

void ExtraColumns::add_reference(const std::vector<Row>& rows, models::Columns& columns) {
  margins_.clear(), pairs_.clear();
  for (const Row& row : rows) {
    margins_.push_back(static_cast<float>(reference_->of(row.key())));
    pairs_.push_back(row.counts() ? 1.f : 0.f);
  }
  columns.set(models::kReferenceMargins, margins_);
  columns.set(models::kPairs, pairs_);
}

/// A row that fills up an evaluation has no loss, and nobody's words.
void ExtraColumns::add_teacher(const std::vector<Row>& rows, models::Columns& columns) {
  words_.clear(), log_probs_.clear();
  for (const Row& row : rows) {
    const std::size_t numbers = row.tokens.size() * static_cast<std::size_t>(teacher_->words());
    if (!row.counts()) {
      words_.resize(words_.size() + numbers), log_probs_.resize(log_probs_.size() + numbers);
      continue;
    }
    const auto known = teacher_->find(row.key());
    if (!known) {
      throw_data(
          "--teacher-file {}: lacks a sample of the data; it was written for other data, another "
          "tokenizer or other options of samples",
          teacher_->path().string());
    }
    std::ranges::copy(teacher_->ids(*known), std::back_inserter(words_));
    std::ranges::copy(teacher_->log_probs(*known), std::back_inserter(log_probs_));
  }
  columns.set(models::kTeacherIds, words_);
  columns.set(models::kTeacherLogProbs, log_probs_);
}

}  // namespace mpitron::train

#pragma once
#include <memory>
#include <vector>

#include "data/loading/batch_loader.h"
#include "models/base/host_microbatch.h"
#include "train/batches/training_data.h"

namespace mpitron::train {

/// Gives a batch columns of what another model says of its rows: with --dpo the reference's margins
/// in log-probability, with --teacher-file the teacher's words. They are valid until the next call.
class ExtraColumns {
 public:
  explicit ExtraColumns(const TrainingData& data)
      : reference_(data.reference), teacher_(data.teacher) {}

  /// Error(data) for a row that the teacher has not seen.
  void add(const data::Batch& batch, models::Columns& columns);

 private:
  /// Tokens and weights of a row.
  struct Row {
    std::span<const std::int64_t> tokens;
    std::span<const float> weights;
    /// Whether any token of the row takes part in the loss: rows that only fill up a batch do not.
    bool counts() const;
    std::uint64_t key() const { return RowValues::key_of(tokens, weights); }
  };
  /// Fills the columns of --dpo from the pairs' log-probabilities.
  void add_reference(const std::vector<Row>& rows, models::Columns& columns);
  /// Fills the columns of --teacher-file: words and their log-probabilities.
  void add_teacher(const std::vector<Row>& rows, models::Columns& columns);

  std::shared_ptr<const RowValues> reference_;
  std::shared_ptr<const TeacherFile> teacher_;
  std::vector<float> margins_, pairs_, log_probs_;
  std::vector<std::int64_t> words_;
};

}  // namespace mpitron::train

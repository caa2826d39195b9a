#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "train/batches/training_data.h"

namespace mpitron::train {

/// Samples of several data sets, each a row of a batch, as one data set.
class DistinctRows final : public data::Dataset {
 public:
  struct Row {
    const data::Dataset* set = nullptr;  // outlives this
    Index sample = 0;
    std::uint64_t key = 0;  // RowValues::key_of
  };
  explicit DistinctRows(std::vector<Row> rows) : rows_(std::move(rows)) {}

  const Row& row(Index i) const { return rows_[static_cast<std::size_t>(i)]; }
  Index size() const override { return static_cast<Index>(rows_.size()); }
  void read(Index sample, std::span<std::int64_t> tokens) const override {
    row(sample).set->read(row(sample).sample, tokens);
  }
  void read_row(Index sample, const data::GptSampleOptions& options, std::span<std::int64_t> text,
                const data::GptSample& out) const override {
    row(sample).set->read_row(row(sample).sample, options, text, out);
  }
  const std::string& description() const override { return description_; }

 private:
  std::vector<Row> rows_;
  std::string description_;
};

/// Returns every row that a run takes of its data sets once, in their order, but for those that are
/// known: of a data set that is not shuffled anew, the first ones. Reads all of them; the same on
/// every rank.
std::shared_ptr<const DistinctRows> distinct_rows(
    const TrainingData& data, const config::RunConfig& config,
    const std::function<bool(std::uint64_t key)>& known);

}  // namespace mpitron::train

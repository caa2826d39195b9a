#pragma once
#include <memory>
#include <optional>
#include <unordered_map>
#include <vector>

#include "config/run_config.h"
#include "data/gpt/dataset.h"
#include "train/batches/microbatch.h"
#include "train/batches/microbatch_stream.h"
#include "train/batches/training_data.h"
#include "train/step/train_step.h"

namespace mpitron::train {

/// Samples of one evaluation: whole batches of `--global-batch-size`.
struct Evaluation {
  std::shared_ptr<const data::Dataset> dataset;  // null: nothing is evaluated
  Index iterations = 0;
  Index consumed = 0;  // the first sample
  Index batch_size = 0;
  bool whole = false;  // each sample once; the last batch is filled up with samples without loss

  explicit operator bool() const { return dataset != nullptr && iterations > 0; }
  Index samples() const { return iterations * batch_size; }
  /// Samples in whole batches, as StreamShare counts them; 0 where the set is not read as a whole.
  Index padded_samples() const { return whole ? samples() : 0; }
};

/// Reads `--eval-iters` batches from sample `consumed` on.
Evaluation part_of(std::shared_ptr<const data::Dataset> dataset,
                   const config::TrainingConfig& training, Index consumed);
/// Reads all samples, however many `--eval-iters` says.
Evaluation whole_of(std::shared_ptr<const data::Dataset> dataset,
                    const config::TrainingConfig& training);
/// Evaluates a validation set: all of it with `--full-validation`.
Evaluation validation_of(std::shared_ptr<const data::Dataset> dataset,
                         const config::TrainingConfig& training, Index consumed);

/// Computes the losses of a run's model on its validation and test sets; all ranks know them.
class Evaluator {
 public:
  /// All of them outlive it.
  Evaluator(TrainStep& step, const TrainedModel& model, const TrainingData& data,
            const config::RunConfig& config)
      : step_(step), model_(model), data_(data), config_(config) {}

  /// Returns the losses of each validation set, from sample `consumed` on; nothing for one without
  /// data.
  std::vector<std::optional<StepReport>> on_validation_sets(Index consumed) const;
  std::optional<StepReport> on_test_set() const;

 private:
  std::optional<StepReport> evaluate(const Evaluation& evaluation) const;
  /// Microbatches of this rank, and how many.
  struct Stream {
    std::unique_ptr<MicrobatchStream> microbatches;
    Index count = 0;
  };
  Stream stream_of(const Evaluation& evaluation) const;
  /// Evaluates a model whose features are compared (nearest neighbours) instead of its losses.
  StepReport by_neighbours(const Evaluation& evaluation) const;

  TrainStep& step_;
  const TrainedModel& model_;
  const TrainingData& data_;
  const config::RunConfig& config_;
};

/// Computes the loss of the best unigram model: the entropy of the labels' own frequencies, in
/// nats. No unigram model can do better on these tokens, so a language model that has learned from
/// contexts ends below.
class UnigramLoss {
 public:
  /// Counts the labels that the loss mask keeps.
  void add(const HostMicrobatch& microbatch);
  double loss() const;

 private:
  std::unordered_map<std::int64_t, double> counts_;
  double total_ = 0;
};

/// Returns the unigram loss of what evaluations of the first validation set read; nothing where
/// they read nothing.
std::optional<double> unigram_loss(const TrainingData& data, const config::RunConfig& config);

}  // namespace mpitron::train

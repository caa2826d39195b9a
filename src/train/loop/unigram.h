#pragma once
#include <optional>
#include <unordered_map>

#include "train/batches/microbatch.h"
#include "train/batches/training_data.h"

namespace mpitron::train {

/// The loss of the best unigram model: the entropy of the labels' own frequencies, in nats. No
/// unigram model can do better on these tokens, so a language model that learned anything ends far
/// below.
class UnigramLoss {
 public:
  /// Counts the labels that the loss mask keeps.
  void add(const HostMicrobatch& microbatch);
  double loss() const;

 private:
  std::unordered_map<std::int64_t, double> counts_;
  double total_ = 0;
};

/// Of what evaluations of the first validation set read; nothing where they read nothing.
std::optional<double> unigram_loss(const TrainingData& data, const config::RunConfig& config);

}  // namespace mpitron::train

#include "train/loop/unigram.h"

#include <cmath>

#include "train/batches/microbatch_stream.h"
#include "train/loop/evaluation.h"

namespace mpitron::train {

/// Counts labels, each with the weight of its place in the loss.
void UnigramLoss::add(const HostMicrobatch& microbatch) {
  const auto labels = microbatch[models::kLabels];
  const auto mask = microbatch[models::kLossMask];
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto weight = static_cast<double>(mask[i]);
    counts_[labels[i]] += weight;
    total_ += weight;
  }
}

/// The entropy of the counted labels, nats a token: no model that ignores the context is better.
double UnigramLoss::loss() const {
  double sum = 0;
  for (const auto& [token, count] : counts_) {
    if (count > 0) {
      sum -= count * std::log(count / total_);
    }
  }
  return total_ > 0 ? sum / total_ : 0;
}

/// Every rank reads the first validation set as a whole.
std::optional<double> unigram_loss(const TrainingData& data, const config::RunConfig& config) {
  if (data.sets.valid.empty()) {
    return std::nullopt;
  }
  const Evaluation evaluation = validation_of(data.sets.valid[0], config.training, 0);
  if (!evaluation) {
    return std::nullopt;
  }
  MicrobatchStream stream(evaluation.dataset, config, data, 0,
                          {.padded_samples = evaluation.padded_samples()});
  UnigramLoss unigram;
  for (Index read = 0; read < evaluation.samples(); read += config.training.micro_batch_size) {
    unigram.add(stream.next());
  }
  return unigram.loss();
}

}  // namespace mpitron::train

#include "train/loop/evaluation.h"

#include <cmath>

#include "train/batches/microbatch_stream.h"
#include "train/batches/training_data.h"
#include "train/loop/nearest_neighbours.h"

// Validation and test: which samples count, in whole batches or all of a set once.

namespace mpitron::train {

/// --eval-iters batches from the samples on that evaluations before it have consumed.
Evaluation part_of(std::shared_ptr<const data::Dataset> dataset,
                   const config::TrainingConfig& training, Index consumed) {
  return {.dataset = std::move(dataset),
          .iterations = training.eval_iters,
          .consumed = consumed,
          .batch_size = training.global_batch_size};
}

/// Reads every sample once (--full-validation).
Evaluation whole_of(std::shared_ptr<const data::Dataset> dataset,
                    const config::TrainingConfig& training) {
  const Index batch = training.global_batch_size;
  const Index samples = dataset ? dataset->size() : 0;
  return {.dataset = std::move(dataset),
          .iterations = (samples + batch - 1) / batch,
          .batch_size = batch,
          .whole = true};
}

Evaluation validation_of(std::shared_ptr<const data::Dataset> dataset,
                         const config::TrainingConfig& training, Index consumed) {
  return training.full_validation ? whole_of(std::move(dataset), training)
                                  : part_of(std::move(dataset), training, consumed);
}

Evaluator::Stream Evaluator::stream_of(const Evaluation& evaluation) const {
  StreamShare share = share_of(model_);
  share.padded_samples = evaluation.padded_samples();
  const Index together = config_.training.micro_batch_size * share.data_parallel_size;
  return {std::make_unique<MicrobatchStream>(evaluation.dataset, config_, data_,
                                             evaluation.consumed, share),
          evaluation.samples() / together};
}

/// Evaluates as many microbatches on every replica; where a set is read as a whole, samples without
/// loss fill up the last ones.
std::optional<StepReport> Evaluator::evaluate(const Evaluation& evaluation) const {
  if (!evaluation) {
    return std::nullopt;
  }
  if (config_.model.vision.dino) {
    return by_neighbours(evaluation);
  }
  const Stream stream = stream_of(evaluation);
  return step_.evaluate(stream.count, [&] { return stream.microbatches->next(); });
}

StepReport Evaluator::by_neighbours(const Evaluation& evaluation) const {
  step_.replicas().make_whole();
  NearestNeighbours neighbours(step_, model_);
  const Stream known = stream_of(whole_of(known_images(data_), config_.training));
  neighbours.learn(known.count, [&] { return known.microbatches->next(); });
  const Stream asked = stream_of(evaluation);
  return neighbours.evaluate(asked.count, [&] { return asked.microbatches->next(); });
}

std::vector<std::optional<StepReport>> Evaluator::on_validation_sets(Index consumed) const {
  std::vector<std::optional<StepReport>> reports;
  for (const auto& dataset : data_.sets.valid) {
    reports.push_back(evaluate(validation_of(dataset, config_.training, consumed)));
  }
  return reports;
}

std::optional<StepReport> Evaluator::on_test_set() const {
  return evaluate(part_of(data_.sets.test, config_.training, 0));
}

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

/// Computes the baseline; every rank reads what all replicas evaluate of the first validation set,
/// so nothing has to be gathered.
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

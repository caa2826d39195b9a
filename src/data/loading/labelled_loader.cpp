#include "data/loading/labelled_loader.h"

// Microbatches of a task's samples, made by a thread that reads ahead. The last batch of an epoch
// is filled up with samples of weight 0, so that all have one shape.

namespace mpitron::data {
namespace {

void join(std::vector<std::int64_t>& to, const std::vector<std::int64_t>& from) {
  to.insert(to.end(), from.begin(), from.end());
}

}  // namespace

LabelledLoader::LabelledLoader(std::shared_ptr<const LabelledDataset> dataset,
                               const BatchSamplerRequest& sampler, Index prefetch)
    : dataset_(std::move(dataset)),
      sampler_(sampler.with_total(dataset_->size())),
      rows_(sampler.micro_batch_size),
      prefetcher_(static_cast<std::size_t>(prefetch), {},
                  [this](LabelledBatch& batch) { return fill(batch); }) {}

/// Fills the next microbatch; false at the end of the epoch.
bool LabelledLoader::fill(LabelledBatch& batch) {
  if (!sampler_.next(samples_)) {
    return false;
  }
  batch = {.rows = rows_};
  for (std::size_t row = 0; row < static_cast<std::size_t>(rows_); ++row) {
    const bool real = row < samples_.size();
    dataset_->read_sample(real ? samples_[row] : 0, sample_);
    join(batch.tokens, sample_.tokens);
    join(batch.token_types, sample_.token_types);
    join(batch.padding_mask, sample_.padding_mask);
    join(batch.last_tokens, sample_.last_tokens);
    batch.labels.push_back(static_cast<std::int64_t>(sample_.label));
    batch.scores.push_back(static_cast<float>(sample_.label));
    batch.weights.push_back(real ? 1.f : 0.f);
  }
  return true;
}

}  // namespace mpitron::data

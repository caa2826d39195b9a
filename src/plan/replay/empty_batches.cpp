#include "plan/replay/empty_batches.h"

#include <algorithm>

namespace mpitron::plan {
namespace {

std::size_t to_size(Index n) {
  return static_cast<std::size_t>(n);
}

}  // namespace

EmptyBatches::EmptyBatches(const config::RunConfig& run, const train::TrainedModel& model)
    : parts_(train::microbatch_parts(run)),
      share_(train::share_of(model, run)),
      samples_(run.training.micro_batch_size),
      length_(run.model.seq_length) {
  if (!share_.reads) {
    return;
  }
  const Index longest = std::max(length_, parts_.decoder_length);
  numbers_.assign(to_size(samples_ * longest), 0);
  weights_.assign(numbers_.size(), 1);
  if (parts_.attention_mask) {
    mask_.assign(to_size(samples_ * length_ * length_), 0);
  }
}

train::HostMicrobatch EmptyBatches::next() {
  train::HostMicrobatch batch{
      .samples = samples_, .sequence_length = length_, .first_sample = first_ += samples_};
  if (!share_.reads) {
    return batch;
  }
  const Index labels = parts_.decoder_length > 0 ? parts_.decoder_length : length_;
  batch.tokens = numbers(length_);
  batch.labels = numbers(labels);
  batch.loss_mask = weights(labels);
  batch.attention_mask = mask_;
  if (parts_.padding) {
    batch.padding_mask = numbers(length_);
  }
  if (parts_.token_types) {
    batch.token_types = numbers(length_);
  }
  if (parts_.sentence_order) {
    batch.sentence_order = numbers(1);
  }
  if (parts_.decoder_length > 0) {
    batch.decoder_tokens = numbers(parts_.decoder_length);
    batch.decoder_padding_mask = numbers(parts_.decoder_length);
  }
  return batch;
}

std::span<const std::int64_t> EmptyBatches::numbers(Index each) const {
  return std::span(numbers_).first(to_size(samples_ * each));
}

std::span<const float> EmptyBatches::weights(Index each) const {
  return std::span(weights_).first(to_size(samples_ * each));
}

}  // namespace mpitron::plan

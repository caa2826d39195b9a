#include "data/loading/batch_loader.h"

#include <algorithm>

#include "utils/check.h"

// Micro-batches of text: the sampler's numbers, read into the rows of batches that are used again
// and again.

namespace mpitron::data {
namespace {

Batch empty_batch(const BatchLoaderOptions& options) {
  const Index b = options.sampler.micro_batch_size;
  const Index s = options.sample.seq_length;
  const auto elements = static_cast<std::size_t>(b * s);
  Batch batch;
  batch.rows = b;
  batch.seq_length = s;
  batch.tokens.resize(elements);
  batch.labels.resize(elements);
  batch.loss_mask.resize(elements);
  batch.position_ids.resize(elements);
  batch.attention_mask.resize(
      options.sample.create_attention_mask ? elements * static_cast<std::size_t>(s) : 0);
  batch.samples.reserve(static_cast<std::size_t>(b));
  return batch;
}

}  // namespace

GptSample Batch::row(Index i) {
  const auto s = static_cast<std::size_t>(seq_length);
  const std::size_t start = static_cast<std::size_t>(i) * s;
  const auto part = [&](auto& values) { return std::span(values).subspan(start, s); };
  const std::size_t square = attention_mask.empty() ? 0 : s * s;
  return {part(tokens), part(labels), part(loss_mask), part(position_ids),
          std::span(attention_mask).subspan(static_cast<std::size_t>(i) * square, square)};
}

BatchLoader::BatchLoader(std::shared_ptr<const Dataset> dataset, const BatchLoaderOptions& options)
    : dataset_(std::move(dataset)),
      options_(options.sample),
      micro_batch_size_(options.sampler.micro_batch_size),
      sampler_(options.sampler.with_total(dataset_->size())),
      text_(static_cast<std::size_t>(options.sample.text_length())),
      prefetcher_(static_cast<std::size_t>(options.prefetch), empty_batch(options),
                  [this](Batch& batch) { return fill(batch); }) {}

bool BatchLoader::fill(Batch& batch) {
  if (!sampler_.next(batch.samples)) {
    return false;
  }
  batch.samples.resize(static_cast<std::size_t>(micro_batch_size_), -1);
  for (Index i = 0; i < batch.rows; ++i) {
    const Index sample = batch.samples[static_cast<std::size_t>(i)];
    const GptSample row = batch.row(i);
    dataset_->read_row(std::max(sample, Index{0}), options_, text_, row);
    if (sample < 0) {  // padding: any tokens, no loss
      std::fill(row.loss_mask.begin(), row.loss_mask.end(), 0.0f);
    }
  }
  return true;
}

}  // namespace mpitron::data

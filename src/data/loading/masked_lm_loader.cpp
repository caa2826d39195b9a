#include "data/loading/masked_lm_loader.h"

#include <algorithm>

// Micro-batches of BERT and T5, taken apart into columns: a data set gives rows of numbers, so that
// it blends as all others do.

namespace mpitron::data {
namespace {

using enum MaskedLmColumn;

constexpr MaskedLmColumn kIntegers[] = {
    tokens,         padding_mask,        labels, token_types, sentence_order,
    decoder_tokens, decoder_padding_mask};

MaskedLmBatch empty_batch(const MaskedLmLayout& layout, Index rows) {
  MaskedLmBatch batch{.rows = rows, .columns = {}, .loss_mask = {}};
  for (const MaskedLmColumn column : kIntegers) {
    batch.columns[column].resize(static_cast<std::size_t>(rows * layout.width(column)));
  }
  batch.loss_mask.resize(static_cast<std::size_t>(rows * layout.width(loss_mask)));
  return batch;
}

}  // namespace

MaskedLmLoader::MaskedLmLoader(std::shared_ptr<const Dataset> dataset, const MaskedLmLayout& layout,
                               BatchSamplerRequest sampler, Index prefetch)
    : dataset_(std::move(dataset)),
      layout_(layout),
      sampler_(sampler.with_total(dataset_->size())),
      row_(static_cast<std::size_t>(layout.width())),
      prefetcher_(static_cast<std::size_t>(prefetch), empty_batch(layout, sampler.micro_batch_size),
                  [this](MaskedLmBatch& batch) { return fill(batch); }) {}

bool MaskedLmLoader::fill(MaskedLmBatch& batch) {
  if (!sampler_.next(samples_)) {
    return false;
  }
  for (std::size_t i = 0; i < samples_.size(); ++i) {
    dataset_->read(samples_[i], row_);
    const auto copy = [&](MaskedLmColumn column, auto to) {
      const Index width = layout_.width(column);
      std::copy_n(row_.begin() + layout_.offset(column), width, to + static_cast<Index>(i) * width);
    };
    for (const MaskedLmColumn column : kIntegers) {
      copy(column, batch.columns[column].begin());
    }
    copy(loss_mask, batch.loss_mask.begin());
  }
  return true;
}

}  // namespace mpitron::data

#pragma once
#include <map>
#include <memory>
#include <vector>

#include "data/loading/batch_sampler.h"
#include "data/loading/prefetcher.h"
#include "data/masked_lm/masked_lm_dataset.h"

namespace mpitron::data {

/// One micro-batch of BERT or T5, row-major.
struct MaskedLmBatch {
  Index rows = 0;                                               // b
  std::map<MaskedLmColumn, std::vector<std::int64_t>> columns;  // [b, width]; empty: not there
  std::vector<float> loss_mask;                                 // [b, width of the labels]

  std::span<const std::int64_t> operator[](MaskedLmColumn column) const {
    return columns.at(column);
  }
};

/// Micro-batches of this data-parallel rank, read ahead; its whole position is the number of
/// consumed samples.
class MaskedLmLoader {
 public:
  /// `dataset`: rows of `layout`. `sampler.total_samples` is taken from it; `prefetch`
  /// micro-batches are read ahead by a thread, 0: none.
  MaskedLmLoader(std::shared_ptr<const Dataset> dataset, const MaskedLmLayout& layout,
                 BatchSamplerRequest sampler, Index prefetch);

  /// Returns the next micro-batch, valid until the next call; null at the end of the data. Errors
  /// of reading are thrown here.
  const MaskedLmBatch* next() { return prefetcher_.next(); }

 private:
  bool fill(MaskedLmBatch& batch);

  std::shared_ptr<const Dataset> dataset_;
  MaskedLmLayout layout_;
  BatchSampler sampler_;
  std::vector<Index> samples_;
  std::vector<std::int64_t> row_;
  Prefetcher<MaskedLmBatch> prefetcher_;  // last: its thread uses all of the above
};

}  // namespace mpitron::data

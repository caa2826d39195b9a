#pragma once
#include <memory>
#include <vector>

#include "data/labelled/labelled_dataset.h"
#include "data/loading/batch_sampler.h"
#include "data/loading/prefetcher.h"

namespace mpitron::data {

/// One micro-batch of labelled texts, row-major.
struct LabelledBatch {
  Index rows = 0;                                               // b samples
  std::vector<std::int64_t> tokens, token_types, padding_mask;  // [b * choices, s]
  std::vector<std::int64_t> last_tokens;                        // [b * choices]
  std::vector<std::int64_t> labels;                             // [b]
  std::vector<float> scores;                                    // [b], the same as numbers
  std::vector<float> weights;                                   // [b], of the loss
};

/// Micro-batches of this data-parallel rank, read ahead; rows behind the end of the data are the
/// first sample, with weight 0.
class LabelledLoader {
 public:
  /// `sampler`: counts samples; `total_samples` is the data set's. `prefetch` micro-batches are
  /// read ahead.
  LabelledLoader(std::shared_ptr<const LabelledDataset> dataset, const BatchSamplerRequest& sampler,
                 Index prefetch);

  /// Returns the next micro-batch, valid until the next call; null at the end of the data. Errors
  /// of reading are thrown here.
  const LabelledBatch* next() { return prefetcher_.next(); }

 private:
  bool fill(LabelledBatch& batch);

  std::shared_ptr<const LabelledDataset> dataset_;
  BatchSampler sampler_;
  Index rows_;
  std::vector<Index> samples_;
  LabelledRows sample_;
  Prefetcher<LabelledBatch> prefetcher_;  // last: its thread uses all of the above
};

}  // namespace mpitron::data

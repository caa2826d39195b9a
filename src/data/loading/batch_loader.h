#pragma once
#include <cstdint>
#include <memory>
#include <vector>

#include "data/gpt/dataset.h"
#include "data/gpt/gpt_sample.h"
#include "data/loading/batch_sampler.h"
#include "data/loading/prefetcher.h"

namespace mpitron::data {

/// One micro-batch, row-major.
struct Batch {
  Index rows = 0;                            // b
  Index seq_length = 0;                      // s
  std::vector<std::int64_t> tokens;          // [b, s]
  std::vector<std::int64_t> labels;          // [b, s]
  std::vector<float> loss_mask;              // [b, s]
  std::vector<std::int64_t> position_ids;    // [b, s]
  std::vector<std::uint8_t> attention_mask;  // [b, s, s], 1 = masked; empty unless asked for
  std::vector<Index> samples;                // [b] numbers in the data set, -1 for padding rows

  /// Returns the parts of row i in all columns.
  GptSample row(Index i);
};

struct BatchLoaderOptions {
  GptSampleOptions sample;
  BatchSamplerRequest sampler;  // `total_samples` is taken from the data set
  Index prefetch = 2;           // micro-batches read ahead by an own thread; 0: none
};

/// Micro-batches of this data-parallel rank, read ahead. Its whole position is the number of
/// consumed samples. No allocation after the first batches. With drop_last false, the last batch is
/// filled up with rows of loss mask 0, and so are those that `padded_samples` asks for.
class BatchLoader {
 public:
  BatchLoader(std::shared_ptr<const Dataset> dataset, const BatchLoaderOptions& options);

  /// Returns the next micro-batch, valid until the next call; null at the end of the data (never
  /// with cyclic). Errors of reading are thrown here.
  const Batch* next() { return prefetcher_.next(); }

 private:
  bool fill(Batch& batch);

  std::shared_ptr<const Dataset> dataset_;
  GptSampleOptions options_;
  Index micro_batch_size_;
  BatchSampler sampler_;
  std::vector<std::int64_t> text_;
  Prefetcher<Batch> prefetcher_;  // last: its thread uses all of the above
};

}  // namespace mpitron::data

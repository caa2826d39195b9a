#pragma once
#include <optional>
#include <vector>

#include "kernels/attention/cached_numbers.h"
#include "utils/numbers/dtype.h"
#include "utils/numbers/shape.h"

namespace mpitron::inference {

/// Contents of a block of the cache on a rank.
struct BlockContents {
  Index layers = 1;  // of the stage
  Index positions = 16;
  Index groups = 1, head_dim = 1;  // of keys and values, on this rank
  Index latent_width = 0;          // of latent attention: numbers of a position and layer; 0: none
  DType dtype = DType::f32;        // of the model
  kernels::CacheType cache = kernels::CacheType::model;

  Index bytes() const;
};

/// Settings of --inference-dynamic-batching-*.
struct BatchingSettings {
  double buffer_size_gb = 40;
  double guaranteed_fraction = 0.2;
  std::optional<double> overflow_factor = {};
  std::optional<Index> max_requests = {}, max_tokens = {};  // overrides
  std::optional<Index> graphs = {};                         // --inference-dynamic-batching-num-..
  Index max_sequence_length = 2560;
  Index tensor_ranks = 1;
};

/// Sizes that Megatron-Core 0.14's continuous engine derives from them (DynamicInferenceContext),
/// whose last block is a dummy for rows that fill up a batch.
struct BatchingLimits {
  BatchingLimits(const BlockContents& block, const BatchingSettings& settings);

  Index blocks = 0;
  Index max_requests = 0, max_tokens = 0;
  Index blocks_per_request = 0;
  Index guaranteed_requests = 0, guaranteed_blocks = 0;
  std::vector<Index> graph_sizes;  // of decode steps, largest first
};

}  // namespace mpitron::inference

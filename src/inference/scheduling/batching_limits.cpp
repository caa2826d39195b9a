#include "inference/scheduling/batching_limits.h"

#include <algorithm>
#include <cmath>

// Sizes of a continuous batch and of its graphs, by the reference's formulas.

namespace mpitron::inference {
namespace {

Index rounded_up(Index value, Index step) {
  return (value + step - 1) / step * step;
}

/// A step of roundings that the tensor parallel ranks divide.
Index divisible(Index step, Index ranks) {
  return rounded_up(step, ranks);
}

std::vector<Index> sizes_of_graphs(Index count, Index max_requests, Index ranks) {
  const Index step =
      count == 1 ? max_requests : divisible(rounded_up(max_requests / count, 8), ranks);
  std::vector<Index> sizes;
  for (Index size = step; size < max_requests; size += step) {
    sizes.push_back(size);
  }
  sizes.push_back(max_requests);
  std::ranges::reverse(sizes);
  return sizes;
}

}  // namespace

Index BlockContents::bytes() const {
  const Index of_position = latent_width > 0
                                ? kernels::row_bytes(cache, dtype, latent_width)
                                : 2 * groups * kernels::row_bytes(cache, dtype, head_dim);
  return layers * positions * of_position;
}

/// Sizes a batch as Megatron-Core's DynamicInferenceContext does, with its roundings and its share
/// for overflow, so that flags of its users mean the same here.
BatchingLimits::BatchingLimits(const BlockContents& block, const BatchingSettings& settings) {
  constexpr double kGigabyte = 1 << 30;
  constexpr Index kRequestStep = 4, kTokenStep = 64;
  constexpr double kTokensOfOverflow = 50;
  const Index ranks = settings.tensor_ranks;
  const Index request_step = divisible(kRequestStep, ranks);
  const Index token_step = divisible(kTokenStep, ranks);
  blocks = static_cast<Index>(settings.buffer_size_gb * kGigabyte) / block.bytes();
  double tokens = static_cast<double>(blocks * block.positions);
  double requests = std::floor(tokens / static_cast<double>(settings.max_sequence_length));
  if (settings.overflow_factor) {
    requests *= *settings.overflow_factor;
    tokens *= *settings.overflow_factor / kTokensOfOverflow;
  }
  max_requests =
      rounded_up(settings.max_requests.value_or(static_cast<Index>(requests)), request_step);
  max_tokens = rounded_up(settings.max_tokens.value_or(static_cast<Index>(tokens)), token_step);
  max_requests = std::min(max_requests, max_tokens);
  blocks_per_request = (settings.max_sequence_length + block.positions - 1) / block.positions;
  const auto guaranteed =
      static_cast<Index>(settings.guaranteed_fraction * static_cast<double>(blocks));
  guaranteed_requests = std::max<Index>(1, guaranteed / blocks_per_request);
  guaranteed_blocks = guaranteed_requests * blocks_per_request;
  if (settings.graphs) {
    graph_sizes = sizes_of_graphs(*settings.graphs, max_requests, ranks);
  }
}

}  // namespace mpitron::inference

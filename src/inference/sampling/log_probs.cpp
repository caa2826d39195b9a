#include "inference/sampling/log_probs.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>

#include "kernels/elementwise/token_weights.h"

// Log-probabilities from raw logits: the largest is taken off, and the sums of blocks of ids are
// added in double. The likeliest tokens are selected without sorting the vocabulary.

namespace mpitron::inference {
namespace {

template <class T>
device::TensorView whole_view(std::vector<T>& values) {
  return {values.data(), dtype_of<T>(), {static_cast<Index>(values.size())}};
}

}  // namespace

/// Finds the likeliest of the true ids into ids_. As many blocks have a logit at least as large as
/// their own maximum, so only logits from the `count`-th largest maximum on are looked at.
void LogProbs::find_likeliest(std::span<const float> logits, Index count) {
  const std::span<const float> known = logits.first(static_cast<std::size_t>(vocabulary_));
  const auto blocks = static_cast<std::size_t>(kernels::token_blocks(vocabulary_));
  float least = -HUGE_VALF;
  if (count < static_cast<Index>(blocks)) {  // the last may hold ids that pad the vocabulary
    values_.assign(maxima_.begin(), maxima_.begin() + static_cast<std::ptrdiff_t>(blocks) - 1);
    const auto last = values_.begin() + static_cast<std::ptrdiff_t>(count - 1);
    std::ranges::nth_element(values_, last, std::greater<>());
    least = *last;
  }
  ids_.clear();
  for (std::size_t block = 0; block < blocks; ++block) {
    constexpr auto kSize = static_cast<std::size_t>(kernels::kTokenBlock);
    for (std::size_t i = block * kSize;
         maxima_[block] >= least && i < std::min(known.size(), (block + 1) * kSize); ++i) {
      if (known[i] >= least) {
        ids_.push_back(static_cast<TokenId>(i));
      }
    }
  }
  const auto kept = std::min(count, static_cast<Index>(ids_.size()));
  std::ranges::partial_sort(ids_, ids_.begin() + kept, [&](TokenId a, TokenId b) {
    const float la = known[static_cast<std::size_t>(a)], lb = known[static_cast<std::size_t>(b)];
    return la != lb ? la > lb : a < b;
  });
  ids_.resize(static_cast<std::size_t>(kept));
}

TokenLogProbs LogProbs::of(std::span<const float> logits, TokenId token, Index top) {
  const device::ConstTensorView row(logits.data(), DType::f32, {static_cast<Index>(logits.size())});
  maxima_.resize(static_cast<std::size_t>(kernels::token_blocks(row.numel())));
  sums_.resize(maxima_.size());
  device::launch(stream_, kernels::BlockMaxima{.x = row, .maxima = whole_view(maxima_)});
  const double largest = *std::ranges::max_element(maxima_);
  device::launch(stream_,
                 kernels::TokenWeights{
                     .x = row, .weights = {}, .sums = whole_view(sums_), .largest = largest});
  const double total = largest + std::log(std::accumulate(sums_.begin(), sums_.end(), 0.0));
  const auto value = [&](TokenId id) {
    return static_cast<float>(static_cast<double>(logits[static_cast<std::size_t>(id)]) - total);
  };
  TokenLogProbs result{.token = {token, value(token)}, .top = {}};
  if (top > 0) {
    find_likeliest(logits, std::min(top, vocabulary_));
    for (const TokenId id : ids_) {
      result.top.push_back({id, value(id)});
    }
  }
  return result;
}

}  // namespace mpitron::inference

#pragma once
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "utils/numbers/shape.h"

namespace mpitron::data {

/// A list of corpora, with weights or without.
struct Blend {
  std::vector<std::string> prefixes;
  std::vector<double> weights;  // empty: without; else as given, one per prefix
};

/// Reads the words of --data-path: `w1 p1 w2 p2 ...`, or prefixes alone when their number is odd or
/// the first of a pair is no number. Error(usage) for weights that are negative, not finite, or all
/// 0.
Blend parse_blend(std::span<const std::string> words);

/// Returns the weights divided by their sum, summed as numpy does (pairwise).
std::vector<double> normalized(std::span<const double> weights);

/// Returns the samples asked of a member: ceil(ceil(size * weight) * (1 + surplus)).
Index member_samples(Index size, double weight, double surplus);
/// Returns the length of a weighted blend: the sum of ceil(size * weight).
Index blended_size(Index size, std::span<const double> weights);

/// Sample i of a blend is sample `sample[i]` of member `member[i]`.
struct BlendIndex {
  std::vector<std::int16_t> member;
  std::vector<std::int64_t> sample;
};

/// Builds a blend greedily: step i takes the member that lags most behind weight * i; the first of
/// equals wins. `weights` sum to 1.
BlendIndex build_blend(std::span<const double> weights, Index size);
/// Builds a blend of every sample of every member once, in proportion: the greedy rule over the
/// members not yet used up.
BlendIndex build_exhaustive_blend(std::span<const Index> sizes);

}  // namespace mpitron::data

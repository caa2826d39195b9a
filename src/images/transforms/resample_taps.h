#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "images/transforms/resample.h"

namespace mpitron::images {

inline constexpr int kTapBits = 22;  // of a weight, behind the point

/// The triangle, and Keys' cubic with a = -0.5.
inline double tap_weight(Filter filter, double x) {
  x = std::abs(x);
  if (filter == Filter::bilinear) {
    return x < 1 ? 1 - x : 0;
  }
  constexpr double a = -0.5;
  if (x < 1) {
    return ((a + 2) * x - (a + 3)) * x * x + 1;
  }
  return x < 2 ? (((x - 5) * x + 8) * x - 4) * a : 0;
}

/// Weights for the numbers of the output: `count` neighbours of the input each, of which those
/// behind the edge have weight 0.
struct ResampleTaps {
  Index count = 0;
  std::vector<Index> begins;          // [outputs]
  std::vector<std::int32_t> weights;  // [outputs, count]

  const std::int32_t* of(Index output) const { return weights.data() + output * count; }
  Index begin(Index output) const { return begins[static_cast<std::size_t>(output)]; }
};

/// Makes weights as Pillow's precompute_coeffs: where the image shrinks, the filter widens with it,
/// which is the antialiasing.
inline ResampleTaps make_taps(Index from, Index to, Filter filter) {
  const double ratio = static_cast<double>(from) / static_cast<double>(to);
  const double scale = std::max(ratio, 1.0);
  const double support = (filter == Filter::bilinear ? 1 : 2) * scale;
  const auto bounds = [&](Index output) -> std::pair<Index, Index> {
    const double centre = (static_cast<double>(output) + 0.5) * ratio;
    return {std::max<Index>(0, static_cast<Index>(centre - support + 0.5)),
            std::min(from, static_cast<Index>(centre + support + 0.5))};
  };
  ResampleTaps taps;
  for (Index i = 0; i < to; ++i) {
    const auto [begin, end] = bounds(i);
    taps.count = std::max(taps.count, end - begin);
  }
  taps.weights.resize(static_cast<std::size_t>(to * taps.count));
  std::vector<double> weights;
  for (Index i = 0; i < to; ++i) {
    const double centre = (static_cast<double>(i) + 0.5) * ratio;
    const auto [begin, end] = bounds(i);
    // So that all taps lie inside.
    const Index first = std::min(begin, from - taps.count);
    taps.begins.push_back(first);
    weights.clear();
    double sum = 0;
    for (Index x = begin; x < end; ++x) {
      const double offset = static_cast<double>(x) - centre + 0.5;
      weights.push_back(tap_weight(filter, offset * (1 / scale)));
      sum += weights.back();
    }
    std::int32_t* to_weights = taps.weights.data() + i * taps.count + (begin - first);
    for (const double weight : weights) {
      *to_weights++ = static_cast<std::int32_t>(
          std::round((sum != 0 ? weight / sum : weight) * (1 << kTapBits)));
    }
  }
  return taps;
}

}  // namespace mpitron::images

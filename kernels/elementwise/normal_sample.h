#pragma once
#include <cmath>
#include <cstdint>
#include <numbers>

#include "utils/numbers/philox.h"
#include "utils/numbers/shape.h"

namespace mpitron::kernels {

/// Two uniforms of 53 bits from one Philox call: the first in (0, 1], the second in [0, 1).
struct UniformPair {
  double first, second;
};

constexpr UniformPair uniform_pair(Philox::Key key, std::uint64_t counter) {
  const Philox::Counter bits = Philox::generate(
      {static_cast<std::uint32_t>(counter), static_cast<std::uint32_t>(counter >> 32), 0, 0}, key);
  const auto wide = [&](std::size_t word) {
    return (std::uint64_t{bits[word + 1]} << 32 | bits[word]) >> 11;
  };
  return {static_cast<double>(wide(0) + 1) * 0x1p-53, static_cast<double>(wide(2)) * 0x1p-53};
}

/// Defines NormalInit: standard normal number `index` of a key (Box and Muller 1958). Index 2j
/// takes the cosine, 2j + 1 the sine of counter j.
constexpr double normal_sample(Philox::Key key, Index index) {
  const UniformPair u = uniform_pair(key, static_cast<std::uint64_t>(index) / 2);
  const double radius = std::sqrt(-2 * std::log(u.first));
  const double angle = 2 * std::numbers::pi * u.second;
  return radius * (index % 2 == 0 ? std::cos(angle) : std::sin(angle));
}

}  // namespace mpitron::kernels

#pragma once
#include <cstdint>
#include <vector>

#include "utils/numbers/shape.h"

namespace mpitron::test {

/// `count` reproducible values in [-1, 1), different for every seed.
inline std::vector<double> test_values(Index count, unsigned seed) {
  std::vector<double> values;
  std::uint32_t state = 2654435769u * (seed + 1);
  for (Index i = 0; i < count; ++i) {
    state = state * 1664525u + 1013904223u;
    values.push_back(static_cast<double>(state >> 8) * 0x1p-23 - 1);
  }
  return values;
}

}  // namespace mpitron::test

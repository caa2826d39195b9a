#pragma once
#include <algorithm>

#include "kernels/host/common/simd.h"

namespace mpitron::kernels::simd {

/// The largest lane, found by halves: four comparisons that follow each other where lane_max has
/// fifteen, which is what short groups wait for. Which of several zeros or NaN is not defined.
inline float largest_lane(Float x) {
  x = max(x, __builtin_shufflevector(x, x, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7));
  x = max(x, __builtin_shufflevector(x, x, 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11));
  x = max(x, __builtin_shufflevector(x, x, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13));
  return std::max(x[0], x[1]);
}

}  // namespace mpitron::kernels::simd

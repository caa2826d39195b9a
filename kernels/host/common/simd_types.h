#pragma once
#include <cstdint>

#include "utils/numbers/float16.h"
#include "utils/numbers/shape.h"

namespace mpitron::kernels::simd {

inline constexpr int kLanes = 16;

/// Sixteen lanes. They are the compiler's own vectors, so + - * / < & | and `mask ? a : b` work on
/// them directly.
using Float [[gnu::vector_size(64)]] = float;
using Int [[gnu::vector_size(64)]] = std::int32_t;
using UInt [[gnu::vector_size(64)]] = std::uint32_t;

inline constexpr int kDoubles = 8;
using Double [[gnu::vector_size(64)]] = double;
using Long [[gnu::vector_size(64)]] = std::int64_t;

/// How many lanes of a vector lie inside a row: all of them, or the first `count` (1 .. 15).
struct Full {
  static constexpr Index count = kLanes;
};
struct Part {
  Index count;
};

}  // namespace mpitron::kernels::simd

#pragma once
#include "utils/numbers/dtype.h"
#include "utils/numbers/shape.h"

namespace mpitron::benchmarks {

/// Copies `count` floats (a multiple of 16; both pointers aligned to 64 bytes) past the caches.
void stream_copy(const float* from, float* to, Index count);

/// The sum of `count` floats (a multiple of 64).
float sum_of(const float* x, Index count);

/// Twelve independent chains of 16-lane fp32 multiply-adds, `rounds` links each.
void multiply_add_rounds(Index rounds);
inline constexpr double kFlopsPerRound = 12 * 16 * 2;

/// y[i] = silu(x[i]) of `count` numbers, a multiple of 16, as the kernels of their type compute it.
void silus(const float* x, float* y, Index count);
void silus(const BFloat16* x, BFloat16* y, Index count);

}  // namespace mpitron::benchmarks

#pragma once
#include <type_traits>

#include "kernels/host/attention/attention_simd.h"

// The one micro-kernel of all seven products of attention.
//
// Everything is counted in 32-bit words: one fp32, or two bf16 that are adjacent in the reduction.
// In words both types run the same code: broadcast a word of A, multiply-add it into 16 columns of
// B. A may be read along either of its dimensions, B lies in panels of 64 words; so P^T and dS^T
// are never formed. fp16 is widened to fp32 words when it is packed.
namespace mpitron::kernels::host::attention {

/// Steps of a reduction that one word holds.
template <class T>
inline constexpr Index kPack = std::is_same_v<T, BFloat16> ? 2 : 1;

inline constexpr Index kRows = 6;   // of a register block: 6 x 4 vectors; other blocks were slower
inline constexpr Index kCols = 64;  // of a register block, and of a panel
inline constexpr Index kPad = 16;   // keeps the rows of a tile out of one cache set

constexpr Index round_up(Index x, Index to) {
  return (x + to - 1) / to * to;
}
constexpr Index round_down(Index x, Index to) {
  return x / to * to;
}

/// 16 N columns of 6 rows.
template <int N>
using Block = Vec[kRows][N];

/// f(row, group of 16 columns) over a block, unrolled.
template <int N, class F>
[[gnu::always_inline]] inline void for_block(F&& f) {
#pragma GCC unroll 8
  for (int m = 0; m < kRows; ++m) {
#pragma GCC unroll 4
    for (int n = 0; n < N; ++n) {
      f(m, n);
    }
  }
}

/// Calls f with the number of groups, at most 4, as a constant.
template <class F>
[[gnu::always_inline]] inline void with_groups(Index groups, F&& f) {
  if (groups >= 4) {
    f(std::integral_constant<int, 4>{});
  } else if (groups == 3) {
    f(std::integral_constant<int, 3>{});
  } else if (groups == 2) {
    f(std::integral_constant<int, 2>{});
  } else {
    f(std::integral_constant<int, 1>{});
  }
}

/// Words of A: row m, step k at words[m * row_stride + k * step_stride].
struct RowOperand {
  const float* words;
  Index row_stride;
  Index step_stride;
};

template <class T>
[[gnu::always_inline]] inline Vec multiply_add(Vec a, Vec b, Vec c) {
  if constexpr (kPack<T> == 1) {
    return fma(a, b, c);
  } else {
    return dot_pairs(a, b, c);
  }
}

/// c += A B over `steps` words; B is a panel [steps][64].
template <class T, int N>
[[gnu::always_inline]] inline void accumulate(Block<N>& c, RowOperand a, const float* b,
                                              Index steps) {
  for (Index k = 0; k < steps; ++k, a.words += a.step_stride, b += kCols) {
    Vec columns[N];
#pragma GCC unroll 4
    for (int n = 0; n < N; ++n) {
      columns[n] = load(b + 16 * n);
    }
#pragma GCC unroll 8
    for (int m = 0; m < kRows; ++m) {
      const Vec row = broadcast(a.words[m * a.row_stride]);
#pragma GCC unroll 4
      for (int n = 0; n < N; ++n) {
        c[m][n] = multiply_add<T>(row, columns[n], c[m][n]);
      }
    }
  }
}

/// Computes 2^x with a relative error of 1e-7, or 7.5e-5 for operands that are rounded to bf16; 0
/// for -inf. Minimax polynomials on [0, 1).
template <class T>
[[gnu::always_inline]] inline Vec exp2(Vec x) {
  const Vec r = fraction(x);
  Vec p;
  if constexpr (std::is_same_v<T, BFloat16>) {
    p = fma(broadcast(0.0780245227f), r, broadcast(0.226067155f));
    p = fma(p, r, broadcast(0.695833541f));
    p = fma(p, r, broadcast(0.999925219f));
  } else {
    p = fma(broadcast(0.00187757667f), r, broadcast(0.00898934009f));
    p = fma(p, r, broadcast(0.0558263181f));
    p = fma(p, r, broadcast(0.240153617f));
    p = fma(p, r, broadcast(0.693153073f));
    p = fma(p, r, broadcast(0.999999925f));
  }
  return scale_by_power(p, x);
}

/// Rounds P and dS before they enter a product, for types that are stored as fp32 words.
template <class T>
[[gnu::always_inline]] inline Vec round_operand(Vec x) {
  if constexpr (std::is_same_v<T, Float16>) {
    return round_to_half(x);
  } else {
    return x;
  }
}

}  // namespace mpitron::kernels::host::attention

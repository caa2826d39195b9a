#pragma once
#include "kernels/host/common/largest_lane.h"
#include "kernels/host/common/views.h"
#include "kernels/linear/packed_matmul.h"

// Holds the rows of x in the form in which products with packed weights take them, and asks for
// the weights that come next.

namespace mpitron::kernels::host::packed {

/// Rows of numbers, as the caller gave them.
template <class T>
struct NumberRows {
  const T* data;
  Index stride, head_stride;

  const T* row(Index i) const { return data + i * stride; }
  NumberRows of_head(Index head, Index /*m*/) const {
    return {data + head * head_stride, stride, head_stride};
  }
};

/// Rows of 8-bit integers [heads, m, K], filled up with zeros. Weights are stored as q + shift, so
/// each group of a row has a number that takes the shift's part out of its sum.
struct IntegerRows {
  std::int8_t* data = nullptr;
  float* scales = nullptr;         // [heads, m, groups]
  std::int32_t* shifts = nullptr;  // as scales: -shift times the sum of a group
  Index stride = 0, groups = 0;

  const std::int8_t* row(Index i) const { return data + i * stride; }
  IntegerRows of_head(Index head, Index m) const {
    const Index first = head * m;
    return {data + first * stride, scales + first * groups, shifts + first * groups, stride,
            groups};
  }
};

/// Where M rows lie that a tile reads side by side. The processor adds one and two strides to an
/// address by itself, so a third as many addresses are kept: one of each row would not fit into its
/// registers.
template <class T, int M>
class RowsOfTile {
 public:
  RowsOfTile(const T* first, Index stride) : stride_(stride) {
    for (int i = 0; i < kThirds; ++i) {
      thirds_[i] = first + 3 * i * stride;
    }
  }
  [[gnu::always_inline]] const T* row(int m) const {
    const T* const third = thirds_[m / 3];
    return m % 3 == 0 ? third : m % 3 == 1 ? third + stride_ : third + 2 * stride_;
  }
  /// Goes on by some numbers in each row.
  [[gnu::always_inline]] void advance(Index numbers) {
    for (const T*& third : thirds_) {
      third += numbers;
    }
  }

 private:
  static constexpr int kThirds = (M + 2) / 3;
  const T* thirds_[kThirds];
  Index stride_;
};

/// Weights that are multiplied next: while a tile is multiplied it asks for some of them with each
/// step, since many rows would leave memory idle, and blocks are too short for the processor to
/// foresee what comes. None: the asked address stays where it is.
struct ComingWeights {
  const std::uint8_t* at = nullptr;
  Index stride = 0;

  [[gnu::always_inline]] void ask() {
    simd::prefetch(at);
    at += stride;
  }
  ComingWeights after(Index asked) const { return {at + asked * stride, stride}; }
};

/// Blocks of weights that a tile multiplies side by side: the first, and the bytes from one to the
/// next.
struct TileBlocks {
  const std::uint8_t* first;
  Index bytes;
  ComingWeights coming = {};
};

inline Index groups_of(WeightFormat format, Index k) {
  const Index group = facts(format).group;
  return (k + group - 1) / group;
}

/// Bytes of m rows in the type that products with this format read; each row begins at a line of
/// the cache.
inline Index integer_row_stride(WeightFormat format, Index k) {
  return (packed_inputs(format, k) + 63) / 64 * 64;
}

/// Lay the parts of IntegerRows out in a workspace, and say how large that is.
inline Index integer_rows_bytes(WeightFormat format, Index m, Index k) {
  return m * (integer_row_stride(format, k) + groups_of(format, k) * 8) + 64;
}
inline IntegerRows integer_rows(void* workspace, WeightFormat format, Index m, Index k) {
  IntegerRows rows;
  rows.stride = integer_row_stride(format, k);
  rows.groups = groups_of(format, k);
  rows.data = static_cast<std::int8_t*>(workspace);
  rows.scales = reinterpret_cast<float*>(rows.data + m * rows.stride);
  rows.shifts = reinterpret_cast<std::int32_t*>(rows.scales + m * rows.groups);
  return rows;
}

/// Rounds one row of x to 8 bits, a scale for each group: its largest magnitude becomes 127.
template <class X>
void round_row(const X* x, Index k, WeightFormat format, const IntegerRows& rows, Index row) {
  const Index group = facts(format).group, shift = format == WeightFormat::q4 ? 8 : 128;
  std::int8_t* to = rows.data + row * rows.stride;
  for (Index g = 0; g < rows.groups; ++g) {
    const Index begin = g * group, count = std::min(group, k - begin);
    simd::Float most{};
    simd::for_lanes(count, [&](Index i, auto lanes) {
      most = simd::max(most, simd::abs(simd::load(x + begin + i, lanes)));
    });
    const float scale = scale_of_8_bits(simd::largest_lane(most));
    const float reciprocal = reciprocal_of(scale);
    simd::Float sum{};  // exact: small integers
    simd::for_lanes(count, [&](Index i, auto lanes) {
      const simd::Float scaled = simd::round(simd::load(x + begin + i, lanes) * reciprocal);
      const simd::Float clamped =
          simd::max(simd::min(scaled, simd::splat(127.F)), simd::splat(-127.F));
      sum += clamped;  // lanes outside hold 0
      using Bytes [[gnu::vector_size(16)]] = std::int8_t;
      const Bytes bytes =
          __builtin_convertvector(__builtin_convertvector(clamped, simd::Int), Bytes);
      __builtin_memcpy(to + begin + i, &bytes, static_cast<std::size_t>(lanes.count));
    });
    const auto total = static_cast<std::int32_t>(simd::lane_sum(sum));
    rows.scales[row * rows.groups + g] = scale;
    rows.shifts[row * rows.groups + g] = static_cast<std::int32_t>(-shift) * total;
  }
  std::fill(to + k, to + rows.stride, std::int8_t{0});
}

}  // namespace mpitron::kernels::host::packed

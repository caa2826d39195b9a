#pragma once
#include "kernels/host/linear/dot_quads.h"
#include "kernels/host/linear/packed_rows.h"

// Multiplies tiles of rows and blocks whose weights are integers with scales. Sums of a group are
// exact integers; they are multiplied by both scales and added in fp32, group after group.

namespace mpitron::kernels::host::packed {

/// Group g of the inputs of some rows and blocks: where its factors and weights lie.
struct GroupOfTile {
  Index row, group, k_filled;
  const std::uint8_t* block;  // the first
  Index bytes;                // from block to block
};

/// Weights in 8 bits: a scale for each feature, behind the weights of its block.
struct EightBits {
  static constexpr WeightFormat kFormat = WeightFormat::int8;
  static constexpr Index kGroup = facts(kFormat).group;
  using Rows = IntegerRows;

  /// How often a block's product asks for what comes next.
  static Index asks(Index k) { return packed_inputs(kFormat, k) / 4; }

  /// Adds the contribution of group g: exact dots, less the weights' shift, times the scale of the
  /// row's group.
  template <int M, int B>
  [[gnu::always_inline]] static void add_group(const Rows& x, const GroupOfTile& at,
                                               simd::Float (&sums)[M][B], ComingWeights& coming) {
    const auto [row, g, k_filled, block, bytes] = at;
    simd::Int dots[M][B];
    const std::int8_t* factors[M];
    for (int m = 0; m < M; ++m) {
      factors[m] = x.row(row + m);
      for (int b = 0; b < B; ++b) {
        dots[m][b] = simd::Int{} + x.shifts[(row + m) * x.groups + g];
      }
    }
    const Index end = std::min((g + 1) * kGroup, k_filled);
    for (Index i = g * kGroup; i < end; i += 4) {
      quads::Bytes columns[B];
      for (int b = 0; b < B; ++b) {
        coming.ask();
        columns[b] = quads::load(block + b * bytes + i * simd::kLanes);
      }
      for (int m = 0; m < M; ++m) {
        for (int b = 0; b < B; ++b) {
          dots[m][b] = quads::dot(dots[m][b], columns[b], factors[m] + i);
        }
      }
    }
    for (int m = 0; m < M; ++m) {
      const simd::Float scale = simd::splat(x.scales[(row + m) * x.groups + g]);
      for (int b = 0; b < B; ++b) {
        sums[m][b] = simd::fma(__builtin_convertvector(dots[m][b], simd::Float), scale, sums[m][b]);
      }
    }
  }
  /// Returns the scale of the features in a group: none but that of the block.
  static simd::Float group_scale(const std::uint8_t* /*block*/, Index /*k_filled*/,
                                 Index /*group*/) {
    return simd::splat(1.F);
  }
  /// Returns the scale of the block's features, which is applied once at the end.
  static simd::Float scale(const std::uint8_t* block, Index k) {
    return simd::load(reinterpret_cast<const float*>(block + packed_weight_bytes(kFormat, k)));
  }
};

/// Weights in 4 bits: 32 inputs of a feature share a scale, which is applied in each group.
struct FourBits {
  static constexpr WeightFormat kFormat = WeightFormat::q4;
  using Rows = IntegerRows;

  /// With each load of weights and of scales.
  static Index asks(Index k) { return packed_inputs(kFormat, k) / 32 * 5; }

  /// Sixteen features' weights of four inputs, and of the four that lie sixteen inputs behind them.
  struct Quads {
    quads::Bytes low, high;
  };
  static Quads load(const std::uint8_t* block, Index group, Index i) {
    const quads::Bytes both = quads::load(block + (group * 4 + i) * 64);
    return {both & 15, both >> 4};
  }
  /// Stores the weights of groups [begin, end) as bytes in rising order of inputs, [K/4][f][4].
  static void unpack(const std::uint8_t* block, Index begin, Index end, std::uint8_t* to) {
    for (Index g = begin; g < end; ++g, to += 512) {
      for (Index i = 0; i < 4; ++i) {
        const Quads weights = load(block, g, i);
        __builtin_memcpy(to + i * 64, &weights.low, sizeof weights.low);
        __builtin_memcpy(to + 256 + i * 64, &weights.high, sizeof weights.high);
      }
    }
  }

  template <int M, int B>
  [[gnu::always_inline]] static void add_group(const Rows& x, const GroupOfTile& at,
                                               simd::Float (&sums)[M][B], ComingWeights& coming) {
    const auto [row, g, k_filled, block, bytes] = at;
    simd::Int dots[M][B];
    for (int m = 0; m < M; ++m) {
      for (int b = 0; b < B; ++b) {
        dots[m][b] = simd::Int{} + x.shifts[(row + m) * x.groups + g];
      }
    }
    const RowsOfTile<std::int8_t, M> rows(x.row(row) + g * 32, x.stride);
    for (Index i = 0; i < 4; ++i) {
      Quads weights[B];
      for (int b = 0; b < B; ++b) {
        coming.ask();
        weights[b] = load(block + b * bytes, g, i);
      }
      for (int m = 0; m < M; ++m) {
        const std::int8_t* factors = rows.row(m) + i * 4;
        for (int b = 0; b < B; ++b) {
          dots[m][b] = quads::dot(dots[m][b], weights[b].low, factors);
          dots[m][b] = quads::dot(dots[m][b], weights[b].high, factors + 16);
        }
      }
    }
    for (int b = 0; b < B; ++b) {
      coming.ask();
      const simd::Float of_weights = group_scale(block + b * bytes, k_filled, g);
      for (int m = 0; m < M; ++m) {
        const simd::Float scale = of_weights * x.scales[(row + m) * x.groups + g];
        sums[m][b] = simd::fma(__builtin_convertvector(dots[m][b], simd::Float), scale, sums[m][b]);
      }
    }
  }
  /// Returns the scale of the features in a group.
  [[gnu::always_inline]] static simd::Float group_scale(const std::uint8_t* block, Index k_filled,
                                                        Index group) {
    const Index scales = k_filled * simd::kLanes / 2 + group * simd::kLanes * 2;
    return simd::load(reinterpret_cast<const Float16*>(block + scales));
  }
  static simd::Float scale(const std::uint8_t* /*block*/, Index /*k*/) { return simd::splat(1.F); }
};

/// M rows from `row` on times B blocks: sums over all k inputs.
template <class Weights, int M, int B>
[[gnu::always_inline]] inline void multiply_integers(const IntegerRows& x, Index row, Index k,
                                                     const TileBlocks& blocks,
                                                     simd::Float (&sums)[M][B]) {
  const auto [block, bytes, next] = blocks;
  ComingWeights coming = next;
  const Index filled = packed_inputs(Weights::kFormat, k);
  for (Index g = 0; g < x.groups; ++g) {
    Weights::template add_group<M, B>(x, {row, g, filled, block, bytes}, sums, coming);
  }
  for (int b = 0; b < B; ++b) {
    const simd::Float scale = Weights::scale(block + b * bytes, k);
    for (int m = 0; m < M; ++m) {
      sums[m][b] *= scale;
    }
  }
}

}  // namespace mpitron::kernels::host::packed

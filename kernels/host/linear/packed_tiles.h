#pragma once
#include "kernels/host/linear/matrix_unit.h"
#include "kernels/host/linear/packed_integers.h"

// Multiplies bf16 with bf16 and bytes with bytes by a matrix unit: sixteen rows of x times a block
// of sixteen features at a time. Weights of 4 bits become bytes in memory of the thread's own, once
// for all rows.

namespace mpitron::kernels::host::packed {

/// Cuts m rows into `count` tiles of `rows` rows, the last of which may repeat some of the one
/// before it: equal tiles need one configuration, and repeated rows are computed in the same bits.
struct RowTiles {
  Index m, count, rows;

  explicit RowTiles(Index m_) : m(m_), count((m_ + 15) / 16), rows((m_ + count - 1) / count) {}
  Index first_row(Index tile) const { return std::min(tile * rows, m - rows); }
};

/// Groups of 4-bit weights that are unpacked and multiplied together.
inline constexpr Index kUnpackedGroups = 4;

/// Counts the fp32 numbers of memory that a thread needs for m rows: sums of all its tiles, and of
/// integers those of two tiles for each group that is taken together, and unpacked weights.
inline Index tile_memory(WeightFormat format, Index m) {
  constexpr Index kColumns = 2 * kPackedColumns;
  const bool unpacks = format == WeightFormat::q4;
  const Index groups = unpacks ? kUnpackedGroups : 1;
  const Index weights = unpacks ? groups * facts(format).group * kColumns / 4 : 0;
  return (RowTiles(m).count + 2 * groups) * 16 * kColumns + weights;
}

/// Products of bf16.
struct PairTiles {
  using Rows = NumberRows<BFloat16>;
  static constexpr WeightFormat kFormat = WeightFormat::bf16;
  static constexpr Index kInputs = 32, kGroups = 1;
};
/// Products of bytes, in groups of inputs with one scale.
struct ByteTiles {
  using Rows = IntegerRows;
  using Weights = EightBits;
  static constexpr WeightFormat kFormat = WeightFormat::int8;
  static constexpr Index kInputs = 64, kGroups = 1;
};
/// The same for weights of 4 bits: a group fills half of a tile, so some are taken together.
struct NibbleTiles {
  using Rows = IntegerRows;
  using Weights = FourBits;
  static constexpr WeightFormat kFormat = WeightFormat::q4;
  static constexpr Index kInputs = 32, kGroups = kUnpackedGroups;
};

/// Computes the sums of one thread's blocks; `finish` is called with (row, block, sixteen sums).
/// `Unit`: a MatrixUnit, or what behaves like it.
template <class Kind, class Unit>
class TiledProduct {
 public:
  /// `memory`: tile_memory(format, m) numbers of this thread's own.
  TiledProduct(const typename Kind::Rows& x, Index m, Index k, const std::uint8_t* packed,
               float* memory)
      : x_(x),
        tiles_(m),
        inputs_(packed_inputs(Kind::kFormat, k)),
        packed_(packed),
        bytes_(packed_block_bytes(Kind::kFormat, k)),
        integers_(memory),
        sums_(memory + Kind::kGroups * kGroupSums),
        unpacked_(reinterpret_cast<std::uint8_t*>(sums_ + tiles_.count * 16 * kColumns)) {}

  template <class Finish>
  void run(Index begin, Index end, Finish&& finish) {
    Unit::configure(tiles_.rows, Kind::kInputs * Index{sizeof(*x_.data)});
    for (Index block = begin; block < end; block += 2) {
      const Index blocks = std::min<Index>(2, end - block);
      blocks == 2 ? multiply<2>(block) : multiply<1>(block);
      for (Index tile = 0; tile < tiles_.count; ++tile) {
        for (Index row = 0; row < tiles_.rows; ++row) {
          for (Index b = 0; b < blocks; ++b) {
            finish(tiles_.first_row(tile) + row, block + b,
                   simd::load(sums_of(tile) + row * kColumns + b * kPackedColumns));
          }
        }
      }
    }
    Unit::release();
  }

 private:
  static constexpr bool kIntegers = std::is_same_v<typename Kind::Rows, IntegerRows>;
  static constexpr bool kUnpacks = Kind::kFormat == WeightFormat::q4;
  static constexpr Index kGroup = facts(Kind::kFormat).group;
  static constexpr Index kColumns = 2 * kPackedColumns;
  static constexpr Index kRowBytes = kColumns * Index{sizeof(float)};
  /// Numbers of two tiles of rows, times two blocks.
  static constexpr Index kGroupSums = 2 * 16 * kColumns;
  /// Bytes of the weights that a tile register holds.
  static constexpr Index kTileBytes = Kind::kInputs * Index{sizeof(*Kind::Rows::data)} * 16;

  Index tile_sums() const { return tiles_.rows * kColumns; }
  float* sums_of(Index tile) const { return sums_ + tile * tile_sums(); }
  /// Inputs that are taken together: groups with one scale each; else few enough for their weights
  /// to stay in the first cache while all rows pass.
  Index chunk() const {
    constexpr Index kFewInputs = 384;
    return kIntegers ? Kind::kGroups * kGroup : tiles_.count <= 2 ? inputs_ : kFewInputs;
  }

  /// Weights of up to two blocks as tile registers take them.
  struct TileWeights {
    const std::uint8_t* first;
    Index bytes;  // from block to block
  };
  template <int B>
  TileWeights weights_of(Index block, Index begin, Index end) const {
    if constexpr (kUnpacks) {
      constexpr Index kBytes = kUnpackedGroups * kGroup * kPackedColumns;
      for (Index b = 0; b < B; ++b) {
        FourBits::unpack(packed_ + (block + b) * bytes_, begin / kGroup, end / kGroup,
                         unpacked_ + b * kBytes);
      }
      return {unpacked_, kBytes};
    }
    return {packed_ + block * bytes_ + begin / Kind::kInputs * kTileBytes, bytes_};
  }

  template <int B>
  void multiply(Index block) const {
    for (Index begin = 0; begin < inputs_; begin += chunk()) {
      const Index end = std::min(begin + chunk(), inputs_);
      const TileWeights weights = weights_of<B>(block, begin, end);
      for (Index tile = 0; tile < tiles_.count; tile += 2) {
        if (tile + 1 < tiles_.count) {
          add<2, B>(tile, block, weights, begin, end);
        } else {
          add<1, B>(tile, block, weights, begin, end);
        }
      }
    }
  }

  /// Adds the contribution of inputs [begin, end) to two or one tiles of rows and two or one
  /// blocks.
  template <int R, int B>
  void add(Index tile, Index block, TileWeights weights, Index begin, Index end) const {
    if constexpr (kIntegers) {
      float* integers = integers_;
      for (Index from = begin; from < end; from += kGroup, integers += kGroupSums) {
        const Index to = std::min(from + kGroup, end);
        Unit::clear_sums();
        multiply_inputs<R, B>(tile, weights, from, to);
        Unit::template store_sums<R, B>(integers, integers + tile_sums(), kRowBytes);
        weights.first += (to - from) / Kind::kInputs * kTileBytes;
      }
      for (Index t = tile; t < tile + R; ++t) {
        scale<B>(t, block, integers_ + (t - tile) * tile_sums(), begin, end);
      }
    } else {
      float* const sums = sums_of(tile);
      if (begin > 0) {
        Unit::template load_sums<R, B>(sums, sums + tile_sums(), kRowBytes);
      } else {
        Unit::clear_sums();
      }
      multiply_inputs<R, B>(tile, weights, begin, end);
      Unit::template store_sums<R, B>(sums, sums + tile_sums(), kRowBytes);
    }
  }
  template <int R, int B>
  void multiply_inputs(Index tile, const TileWeights& weights, Index begin, Index end) const {
    const Index stride = x_.stride * Index{sizeof(*x_.data)};
    const auto* first = x_.row(tiles_.first_row(tile));
    const auto* second = R > 1 ? x_.row(tiles_.first_row(tile + 1)) : first;
    const std::uint8_t* from = weights.first;
    for (Index i = begin; i < end; i += Kind::kInputs, from += kTileBytes) {
      Unit::template load_rows<R>(first + i, second + i, stride);
      Unit::template load_weights<B>(from, from + weights.bytes);
      if constexpr (kIntegers) {
        Unit::template multiply_bytes<R, B>();
      } else {
        Unit::template multiply_pairs<R, B>();
      }
    }
  }

  /// Adds the exact sums of some groups, each times its scales, to those of the groups before.
  template <int B>
  void scale(Index tile, Index block, const float* integers, Index begin, Index end) const {
    const Index first = begin / kGroup, groups = (end - begin + kGroup - 1) / kGroup;
    for (int b = 0; b < B; ++b) {
      simd::Float of_weights[Kind::kGroups];
      for (Index g = 0; g < groups; ++g) {
        of_weights[g] =
            Kind::Weights::group_scale(packed_ + (block + b) * bytes_, inputs_, first + g);
      }
      for (Index row = 0; row < tiles_.rows; ++row) {
        const Index at = row * kColumns + b * kPackedColumns;
        const Index of_x = (tiles_.first_row(tile) + row) * x_.groups + first;
        simd::Float sum = begin > 0 ? simd::load(sums_of(tile) + at) : simd::Float{};
        for (Index g = 0; g < groups; ++g) {
          simd::Int exact;
          __builtin_memcpy(&exact, integers + g * kGroupSums + at, sizeof exact);
          exact += x_.shifts[of_x + g];
          sum = simd::fma(__builtin_convertvector(exact, simd::Float),
                          of_weights[g] * x_.scales[of_x + g], sum);
        }
        simd::store(sums_of(tile) + at, sum);
      }
    }
  }

  typename Kind::Rows x_;
  RowTiles tiles_;
  Index inputs_;
  const std::uint8_t* packed_;
  Index bytes_;
  float* integers_;         // [groups, 2 tiles, rows, 32]
  float* sums_;             // [tiles, rows, 32]
  std::uint8_t* unpacked_;  // [2 blocks, groups, 32 inputs, 16]
};

}  // namespace mpitron::kernels::host::packed

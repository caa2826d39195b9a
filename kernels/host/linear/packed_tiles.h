#pragma once
#include "kernels/host/linear/packed_rows.h"

#if defined(__AMX_BF16__) && defined(__AMX_INT8__)
#include <immintrin.h>
#endif

// Multiplies bf16 with bf16 and bytes with bytes by the matrix units of the processor (AMX):
// sixteen rows of x times a block of sixteen features at a time.

namespace mpitron::kernels::host::packed {

/// Tells whether the processor has such units and the system lets this program use them; asked
/// once.
bool has_tiles();

/// Cuts m rows into `count` tiles of `rows` rows, the last of which may repeat some of the one
/// before it: equal tiles need one configuration, and repeated rows are computed in the same bits.
struct RowTiles {
  Index m, count, rows;

  explicit RowTiles(Index m_) : m(m_), count((m_ + 15) / 16), rows((m_ + count - 1) / count) {}
  Index first_row(Index tile) const { return std::min(tile * rows, m - rows); }
};

/// Counts the fp32 numbers of memory that a thread needs for m rows.
inline Index tile_sums(Index m) {
  const RowTiles tiles(m);
  constexpr Index kColumns = 2 * kPackedColumns;
  return (tiles.count + 2) * 16 * kColumns;
}

#if defined(__AMX_BF16__) && defined(__AMX_INT8__)

/// Products of bf16: two tiles of rows (0 and 1) times two blocks. Tile registers 0 to 3 are sums,
/// 4 and 5 rows, 6 and 7 weights.
struct PairTiles {
  using Rows = NumberRows<BFloat16>;
  static constexpr WeightFormat kFormat = WeightFormat::bf16;
  static constexpr Index kInputs = 32;

  template <int R, int B>
  static void multiply() {
    _tile_dpbf16ps(0, 4, 6);
    if constexpr (B > 1) {
      _tile_dpbf16ps(1, 4, 7);
    }
    if constexpr (R > 1) {
      _tile_dpbf16ps(2, 5, 6);
    }
    if constexpr (R > 1 && B > 1) {
      _tile_dpbf16ps(3, 5, 7);
    }
  }
};

/// Products of signed with unsigned bytes, by the same registers.
struct ByteTiles {
  using Rows = IntegerRows;
  static constexpr WeightFormat kFormat = WeightFormat::int8;
  static constexpr Index kInputs = 64;

  template <int R, int B>
  static void multiply() {
    _tile_dpbsud(0, 4, 6);
    if constexpr (B > 1) {
      _tile_dpbsud(1, 4, 7);
    }
    if constexpr (R > 1) {
      _tile_dpbsud(2, 5, 6);
    }
    if constexpr (R > 1 && B > 1) {
      _tile_dpbsud(3, 5, 7);
    }
  }
};

inline void configure_tiles(Index rows) {
  struct alignas(64) Configuration {
    std::uint8_t palette = 1, start_row = 0, reserved[14] = {};
    std::uint16_t bytes_of_row[16] = {};
    std::uint8_t rows[16] = {};
  } configuration;
  for (int i = 0; i < 8; ++i) {
    configuration.bytes_of_row[i] = 64;
    configuration.rows[i] = static_cast<std::uint8_t>(i < 6 ? rows : 16);
  }
  asm volatile("" : : "r"(&configuration) : "memory");  // all of it is read
  _tile_loadconfig(&configuration);
}

/// Computes the sums of one thread's blocks; `finish` is called with (row, block, sixteen sums).
template <class Kind>
class TiledProduct {
 public:
  /// `sums`: tile_sums(m) numbers of this thread's own.
  TiledProduct(const typename Kind::Rows& x, Index m, Index k, const std::uint8_t* packed,
               float* sums)
      : x_(x),
        tiles_(m),
        inputs_(packed_inputs(Kind::kFormat, k)),
        packed_(packed),
        bytes_(packed_block_bytes(Kind::kFormat, k)),
        scratch_(sums),
        sums_(sums + 2 * 16 * kColumns) {}

  template <class Finish>
  void run(Index begin, Index end, Finish&& finish) {
    configure_tiles(tiles_.rows);
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
    _tile_release();
  }

 private:
  static constexpr bool kIntegers = std::is_same_v<typename Kind::Rows, IntegerRows>;
  static constexpr Index kColumns = 2 * kPackedColumns;
  static constexpr Index kRowBytes = kColumns * Index{sizeof(float)};

  float* sums_of(Index tile) const { return sums_ + tile * tiles_.rows * kColumns; }
  /// Inputs that are taken together: a group with one scale; else few enough for their weights to
  /// stay in the first cache while all rows pass.
  Index chunk() const {
    constexpr Index kFewInputs = 384;
    return kIntegers ? facts(Kind::kFormat).group : tiles_.count <= 2 ? inputs_ : kFewInputs;
  }

  template <int B>
  void multiply(Index block) const {
    for (Index begin = 0; begin < inputs_; begin += chunk()) {
      const Index end = std::min(begin + chunk(), inputs_);
      for (Index tile = 0; tile < tiles_.count; tile += 2) {
        if (tile + 1 < tiles_.count) {
          add<2, B>(tile, block, begin, end);
        } else {
          add<1, B>(tile, block, begin, end);
        }
      }
    }
  }

  /// Adds the contribution of inputs [begin, end) to two or one tiles of rows and two or one
  /// blocks.
  template <int R, int B>
  void add(Index tile, Index block, Index begin, Index end) const {
    float* const sums = kIntegers ? scratch_ : sums_of(tile);
    start<R, B>(sums, !kIntegers && begin > 0);
    const Index stride = x_.stride * Index{sizeof(*x_.data)};
    const auto* first = x_.row(tiles_.first_row(tile));
    const auto* second = R > 1 ? x_.row(tiles_.first_row(tile + 1)) : first;
    constexpr Index kBytesOfStep = 16 * 64;
    const std::uint8_t* weights = packed_ + block * bytes_ + begin / Kind::kInputs * kBytesOfStep;
    for (Index i = begin; i < end; i += Kind::kInputs, weights += kBytesOfStep) {
      _tile_loadd(4, first + i, stride);
      if constexpr (R > 1) {
        _tile_loadd(5, second + i, stride);
      }
      _tile_loadd(6, weights, 64);
      if constexpr (B > 1) {
        _tile_loadd(7, weights + bytes_, 64);
      }
      Kind::template multiply<R, B>();
    }
    store<R, B>(sums);
    if constexpr (kIntegers) {
      for (Index t = tile; t < tile + R; ++t) {
        scale<B>(t, scratch_ + (t - tile) * tiles_.rows * kColumns, begin);
      }
    }
  }

  template <int R, int B>
  void start(const float* sums, bool continues) const {
    const float* second = sums + tiles_.rows * kColumns;
    if (!continues) {
      _tile_zero(0);
      _tile_zero(1);
      _tile_zero(2);
      _tile_zero(3);
      return;
    }
    _tile_loadd(0, sums, kRowBytes);
    if constexpr (B > 1) {
      _tile_loadd(1, sums + kPackedColumns, kRowBytes);
    }
    if constexpr (R > 1) {
      _tile_loadd(2, second, kRowBytes);
    }
    if constexpr (R > 1 && B > 1) {
      _tile_loadd(3, second + kPackedColumns, kRowBytes);
    }
  }
  template <int R, int B>
  void store(float* sums) const {
    float* second = sums + tiles_.rows * kColumns;
    _tile_stored(0, sums, kRowBytes);
    if constexpr (B > 1) {
      _tile_stored(1, sums + kPackedColumns, kRowBytes);
    }
    if constexpr (R > 1) {
      _tile_stored(2, second, kRowBytes);
    }
    if constexpr (R > 1 && B > 1) {
      _tile_stored(3, second + kPackedColumns, kRowBytes);
    }
  }

  /// Adds the exact sums of a group, times its rows' scales, to those of the groups before.
  template <int B>
  void scale(Index tile, const float* integers, Index begin) const {
    const Index group = begin / facts(Kind::kFormat).group;
    for (Index row = 0; row < tiles_.rows; ++row) {
      const Index of_x = (tiles_.first_row(tile) + row) * x_.groups + group;
      const simd::Float factor = simd::splat(x_.scales[of_x]);
      for (int b = 0; b < B; ++b) {
        const Index at = row * kColumns + b * kPackedColumns;
        simd::Int exact;
        __builtin_memcpy(&exact, integers + at, sizeof exact);
        exact += x_.shifts[of_x];
        float* const sums = sums_of(tile) + at;
        const simd::Float before = begin > 0 ? simd::load(sums) : simd::Float{};
        simd::store(sums, simd::fma(__builtin_convertvector(exact, simd::Float), factor, before));
      }
    }
  }

  typename Kind::Rows x_;
  RowTiles tiles_;
  Index inputs_;
  const std::uint8_t* packed_;
  Index bytes_;
  float* scratch_;  // [2 tiles, 16, 32]
  float* sums_;     // [tiles, rows, 32]
};

#endif

}  // namespace mpitron::kernels::host::packed

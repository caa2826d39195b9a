#include "kernels/host/linear/packed_tiles.h"

#include <array>
#include <cstring>

#include "kernels/host/linear/packed_numbers.h"
#include "tests/kernels/linear/packed_weight.h"

namespace mpitron::kernels::host::packed {
namespace packed_tiles_test {

/// A matrix unit made of loops, so that its products are tested on every processor. Registers have
/// the numbers of matrix_unit.h.
class EmulatedUnit {
 public:
  static void configure(Index rows, Index row_bytes) {
    rows_ = rows;
    row_bytes_ = row_bytes;
    clear_sums();
  }
  static void release() { rows_ = 0; }

  static void clear_sums() { std::fill(tiles_.begin(), tiles_.begin() + 4, Tile{}); }
  template <int R, int B>
  static void load_sums(const float* first, const float* second, Index stride) {
    for_sums<R, B>(first, second, [&](Tile& tile, const float* from) {
      copy(rows_, 64, reinterpret_cast<const std::uint8_t*>(from), stride, tile.data(), 64);
    });
  }
  template <int R, int B>
  static void store_sums(float* first, float* second, Index stride) {
    for_sums<R, B>(first, second, [&](Tile& tile, float* to) {
      copy(rows_, 64, tile.data(), 64, reinterpret_cast<std::uint8_t*>(to), stride);
    });
  }
  template <int R>
  static void load_rows(const void* first, const void* second, Index stride) {
    for (int r = 0; r < R; ++r) {
      const auto* from = static_cast<const std::uint8_t*>(r == 0 ? first : second);
      copy(rows_, row_bytes_, from, stride, tiles_[4 + std::size_t(r)].data(), 64);
    }
  }
  template <int B>
  static void load_weights(const void* first, const void* second) {
    for (int b = 0; b < B; ++b) {
      const auto* from = static_cast<const std::uint8_t*>(b == 0 ? first : second);
      copy(row_bytes_ / 4, 64, from, 64, tiles_[6 + std::size_t(b)].data(), 64);
    }
  }

  template <int R, int B>
  static void multiply_pairs() {
    multiply<R, B, float>([](const std::uint8_t* x, const std::uint8_t* weights, float& sum) {
      BFloat16 a[2], b[2];
      std::memcpy(a, x, sizeof a);
      std::memcpy(b, weights, sizeof b);
      for (int i = 0; i < 2; ++i) {
        sum += static_cast<float>(a[i]) * static_cast<float>(b[i]);
      }
    });
  }
  template <int R, int B>
  static void multiply_bytes() {
    multiply<R, B, std::int32_t>(
        [](const std::uint8_t* x, const std::uint8_t* weights, std::int32_t& sum) {
          for (int i = 0; i < 4; ++i) {
            sum += static_cast<std::int8_t>(x[i]) * weights[i];
          }
        });
  }

 private:
  using Tile = std::array<std::uint8_t, 16 * 64>;

  static void copy(Index rows, Index bytes, const std::uint8_t* from, Index from_stride,
                   std::uint8_t* to, Index to_stride) {
    for (Index row = 0; row < rows; ++row) {
      std::copy_n(from + row * from_stride, bytes, to + row * to_stride);
    }
  }
  template <int R, int B, class T, class F>
  static void for_sums(T* first, T* second, F&& f) {
    for (int r = 0; r < R; ++r) {
      for (int b = 0; b < B; ++b) {
        f(tiles_[std::size_t(2 * r + b)], (r == 0 ? first : second) + 16 * b);
      }
    }
  }
  /// Calls add(four bytes of a row, four of a column, their sum) in rising order.
  template <int R, int B, class Sum, class Add>
  static void multiply(Add&& add) {
    Sum* const none = nullptr;
    int number = 0;
    for_sums<R, B>(none, none, [&](Tile& sums, Sum*) {
      const Tile& x = tiles_[4 + std::size_t(number / B)];
      const Tile& weights = tiles_[6 + std::size_t(number++ % B)];
      for (Index i = 0; i < rows_ * 16; ++i) {
        Sum sum;
        std::memcpy(&sum, &sums[std::size_t(i * 4)], sizeof sum);
        for (Index k = 0; k < row_bytes_ / 4; ++k) {
          add(&x[std::size_t(i / 16 * 64 + 4 * k)], &weights[std::size_t(k * 64 + i % 16 * 4)],
              sum);
        }
        std::memcpy(&sums[std::size_t(i * 4)], &sum, sizeof sum);
      }
    });
  }

  static inline std::array<Tile, 8> tiles_;
  static inline Index rows_ = 0, row_bytes_ = 0;
};

constexpr Index kFeatures = 37;

/// Sums [m, blocks, 16] of tiles.
template <class Kind>
std::vector<simd::Float> tile_product(const typename Kind::Rows& x, Index m, Index k,
                                      const std::vector<std::uint8_t>& packed) {
  const Index blocks = packed_blocks(kFeatures);
  std::vector<simd::Float> sums(static_cast<std::size_t>(m * blocks));
  std::vector<float> memory(static_cast<std::size_t>(tile_memory(Kind::kFormat, m)), NAN);
  TiledProduct<Kind, EmulatedUnit>(x, m, k, packed.data(), memory.data())
      .run(0, blocks, [&](Index row, Index block, simd::Float sum) {
        sums[static_cast<std::size_t>(row * blocks + block)] = sum;
      });
  return sums;
}

std::vector<std::uint8_t> packed_weight(WeightFormat format, Index k) {
  TestTensor weight(DType::f32, {kFeatures, k}, test_values(kFeatures * k, 3));
  TestTensor packed = packed_by_reference(weight.view(), format);
  const auto* const bytes = packed.view().as<std::uint8_t>();
  return {bytes, bytes + packed.view().numel()};
}

/// Sums of integers have the bits of those that vectors make.
template <class Kind>
void check_integers(Index m, Index k) {
  using Weights = typename Kind::Weights;
  constexpr WeightFormat kFormat = Kind::kFormat;
  const std::vector<std::uint8_t> packed = packed_weight(kFormat, k);
  std::vector<std::uint8_t> memory(static_cast<std::size_t>(integer_rows_bytes(kFormat, m, k)));
  const IntegerRows rows = integer_rows(memory.data(), kFormat, m, k);
  const std::vector<double> values = test_values(m * k, 5);
  const std::vector<float> x(values.begin(), values.end());
  for (Index row = 0; row < m; ++row) {
    round_row(x.data() + row * k, k, kFormat, rows, row);
  }
  const std::vector<simd::Float> got = tile_product<Kind>(rows, m, k, packed);
  const Index blocks = packed_blocks(kFeatures), bytes = packed_block_bytes(kFormat, k);
  for (Index row = 0; row < m; ++row) {
    for (Index block = 0; block < blocks; ++block) {
      const std::uint8_t* weights = packed.data() + block * bytes;
      simd::Float sums[1][1] = {};
      multiply_integers<Weights, 1, 1>(rows, row, k, {weights, bytes}, sums);
      const simd::Float sum =
          got[static_cast<std::size_t>(row * blocks + block)] * Weights::scale(weights, k);
      for (int lane = 0; lane < simd::kLanes; ++lane) {
        ASSERT_EQ(sum[lane], sums[0][0][lane]) << row << " " << block << " " << lane;
      }
    }
  }
}

TEST(PackedTiles, IntegersHaveTheBitsOfVectors) {
  for (const Index m : {1, 5, 16, 19, 33, 50}) {
    for (const Index k : {45, 64, 320, 700}) {
      SCOPED_TRACE(::testing::Message() << "m " << m << " k " << k);
      check_integers<ByteTiles>(m, k);
      check_integers<NibbleTiles>(m, k);
    }
  }
}

TEST(PackedTiles, NumbersAreMultiplied) {
  for (const Index m : {1, 16, 19, 50}) {
    for (const Index k : {64, 416}) {  // rows are whole tiles
      const std::vector<std::uint8_t> packed = packed_weight(WeightFormat::bf16, k);
      std::vector<BFloat16> x;
      for (const double value : test_values(m * k, 5)) {
        x.push_back(BFloat16(static_cast<float>(value)));
      }
      const std::vector<simd::Float> got =
          tile_product<PairTiles>(NumberRows<BFloat16>{x.data(), k, k}, m, k, packed);
      const Index blocks = packed_blocks(kFeatures),
                  bytes = packed_block_bytes(WeightFormat::bf16, k);
      std::vector<float> wide;
      for (const BFloat16 value : x) {
        wide.push_back(static_cast<float>(value));
      }
      const NumberRows<float> rows{wide.data(), k, k};
      for (Index i = 0; i < m * blocks; ++i) {
        simd::Float sums[1][1] = {};
        multiply_numbers<Pairs, 1, 1>(rows, i / blocks, k,
                                      {packed.data() + i % blocks * bytes, bytes}, sums);
        for (int lane = 0; lane < simd::kLanes; ++lane) {
          ASSERT_NEAR(got[static_cast<std::size_t>(i)][lane], sums[0][0][lane], 2e-5)
              << "m " << m << " k " << k << " " << i << " " << lane;
        }
      }
    }
  }
}

}  // namespace packed_tiles_test
}  // namespace mpitron::kernels::host::packed

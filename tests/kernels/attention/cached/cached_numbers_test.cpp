#include "kernels/attention/cached_numbers.h"

#include <cmath>
#include <limits>

#include <gtest/gtest.h>

namespace mpitron::kernels {
namespace cached_numbers_test {

constexpr float kInfinity = std::numeric_limits<float>::infinity();

/// What is read of numbers that were stored as one row.
std::vector<float> read_back(const std::vector<float>& row) {
  RowRange range;
  for (const float x : row) {
    range.add(x);
  }
  std::vector<float> read;
  for (const float x : row) {
    const CachedByte byte = cached_byte(x * to_cached_range(range.scale()));
    read.push_back(static_cast<float>(byte) * cached_factor(range.scale()));
  }
  return read;
}

TEST(CachedNumbers, ABytesIsA256thOfItsE4m3) {
  for (int bits = 0; bits < 256; ++bits) {
    if ((bits & 0x7f) != 0x7f) {
      EXPECT_EQ(static_cast<float>(CachedByte{static_cast<std::uint8_t>(bits)}) * 256,
                from_fp8(static_cast<std::uint8_t>(bits), Fp8Format::e4m3))
          << bits;
    }
  }
}

TEST(CachedNumbers, TheLargestOfARowUsesTheRange) {
  for (float largest = 0x1p-110F; largest < 448 * 0x1p119F; largest *= 1.37F) {
    const float in_range = largest * to_cached_range(cached_scale(largest));
    EXPECT_GT(in_range, 224) << largest;
    EXPECT_LE(in_range, 448) << largest;
    EXPECT_EQ(to_cached_range(cached_scale(largest)) * cached_factor(cached_scale(largest)), 256);
    const std::vector<float> read = read_back({largest, -largest / 3, largest / 100});
    EXPECT_NEAR(read[0] / largest, 1, 1. / 16) << largest;
    EXPECT_NEAR(read[1] / largest, -1. / 3, 1. / 48) << largest;
    EXPECT_NEAR(read[2] / largest, 1. / 100, 1. / 1600) << largest;
  }
}

TEST(CachedNumbers, RoundsToNearestEven) {
  EXPECT_EQ(read_back({448, 17, 19, 21, 0x1p-10F, 3 * 0x1p-10F, -0.F}),
            (std::vector<float>{448, 16, 20, 20, 0, 2 * 0x1p-9F, 0}));
}

TEST(CachedNumbers, ZerosAndWhatIsNotFinite) {
  EXPECT_EQ(read_back({0, -0.F, 0}), (std::vector<float>{0, 0, 0}));
  EXPECT_EQ(read_back({0x1p-149F, 0}), (std::vector<float>{0, 0}));
  EXPECT_EQ(read_back({3, kInfinity, -kInfinity}), (std::vector<float>{3, 3.5, -3.5}));
  EXPECT_EQ(read_back({-kInfinity, 0}), (std::vector<float>{-448, 0}));
  constexpr float kMost = std::numeric_limits<float>::max();
  EXPECT_EQ(read_back({kMost, -kMost}), (std::vector<float>{448 * 0x1p119F, -448 * 0x1p119F}));
  for (const float x : read_back({1, NAN, 0})) {
    EXPECT_TRUE(std::isnan(x));
  }
}

TEST(CachedNumbers, NamesAndBytesOfTypes) {
  EXPECT_EQ(cache_type("auto"), CacheType::model);
  EXPECT_EQ(cache_type("fp8_e4m3"), CacheType::e4m3);
  EXPECT_EQ(cache_type("fp8"), std::nullopt);
  EXPECT_EQ(row_bytes(CacheType::model, DType::f32, 64), 256);
  EXPECT_EQ(row_bytes(CacheType::bf16, DType::f32, 64), 128);
  EXPECT_EQ(row_bytes(CacheType::e4m3, DType::bf16, 64), 65);
}

}  // namespace cached_numbers_test
}  // namespace mpitron::kernels

#include "kernels/host/attention/cached_bytes.h"

#include <cmath>

#include <gtest/gtest.h>

namespace mpitron::kernels::host::cached {
namespace cached_bytes_test {

/// Of each byte the number that its definition gives, and none of what lies behind a row.
TEST(CachedBytes, VectorsReadWhatEachByteIs) {
  std::vector<CachedByte> bytes;
  for (int i = 0; i < 256; ++i) {
    bytes.push_back({static_cast<std::uint8_t>(i)});
  }
  for (Index first = 0; first < 256; first += kLanes) {
    const Float all = numbers(bytes.data() + first);
    const Float some = numbers(bytes.data() + first, simd::Part{5});
    for (Index i = 0; i < kLanes; ++i) {
      EXPECT_EQ(all[i], static_cast<float>(bytes[static_cast<std::size_t>(first + i)])) << i;
      EXPECT_EQ(some[i], i < 5 ? all[i] : 0) << i;
    }
  }
}

TEST(CachedBytes, FactorsOfRows) {
  const std::uint8_t scales[kLanes] = {127, 135, 9, 254, kNanScale, 1};
  const Float read = factors(scales, 5);
  EXPECT_EQ(read[0], 1);
  EXPECT_EQ(read[1], 256);
  EXPECT_EQ(read[2], 0x1p-118F);
  EXPECT_EQ(read[3], 0x1p127F);
  EXPECT_TRUE(std::isnan(read[4]));
  EXPECT_EQ(read[5], 0);
}

}  // namespace cached_bytes_test
}  // namespace mpitron::kernels::host::cached

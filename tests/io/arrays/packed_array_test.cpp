#include "io/arrays/packed_array.h"

#include <cstdint>
#include <vector>

#include <gtest/gtest.h>

namespace mpitron::io {
namespace packed_array_test {

TEST(PackedArray, ReadsAtAnyAlignment) {
  const std::vector<std::int64_t> values = {1, -2, std::int64_t{1} << 40};
  for (std::size_t shift = 0; shift < 8; ++shift) {
    std::vector<std::byte> bytes(shift + sizeof(std::int64_t) * values.size());
    std::memcpy(bytes.data() + shift, values.data(), sizeof(std::int64_t) * values.size());
    const PackedArray<std::int64_t> array(bytes.data() + shift, 3);
    ASSERT_EQ(array.size(), 3);
    for (Index i = 0; i < 3; ++i) {
      EXPECT_EQ(array[i], values[static_cast<std::size_t>(i)]) << shift;
    }
    EXPECT_EQ(array.bytes().size(), 24U);
    EXPECT_EQ(array.bytes().data(), bytes.data() + shift);
  }
}

TEST(PackedArray, IsEmptyByDefault) {
  EXPECT_EQ(PackedArray<std::int32_t>().size(), 0);
  EXPECT_TRUE(PackedArray<std::int32_t>().bytes().empty());
}

}  // namespace packed_array_test
}  // namespace mpitron::io

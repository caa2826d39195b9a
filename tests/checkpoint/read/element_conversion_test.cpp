#include <array>
#include <cstring>

#include <gtest/gtest.h>

#include "checkpoint/read/parallel_read.h"

namespace mpitron::checkpoint {
namespace element_conversion_test {

TEST(ElementConversion, TypesOfTrainingBecomeEachOther) {
  for (const DType from : {DType::f32, DType::bf16, DType::f16}) {
    for (const DType to : {DType::f32, DType::bf16, DType::f16}) {
      EXPECT_TRUE(convertible(from, to));
    }
    EXPECT_FALSE(convertible(from, DType::i64));
    EXPECT_FALSE(convertible(DType::f64, from));
  }
  EXPECT_TRUE(convertible(DType::i64, DType::i64));
}

TEST(ElementConversion, RoundsToNearestWithTiesToEven) {
  const std::array<float, 4> from{1.0F, 1.0F + 0x1p-8F, 1.0F + 0x3p-8F, -3.0e38F};
  std::array<BFloat16, 4> to{};
  convert_elements(from.data(), DType::f32, to.data(), DType::bf16, 4);
  EXPECT_EQ(static_cast<float>(to[0]), 1.0F);
  EXPECT_EQ(static_cast<float>(to[1]), 1.0F);
  EXPECT_EQ(static_cast<float>(to[2]), 1.0F + 0x1p-6F);
  EXPECT_LT(static_cast<float>(to[3]), -2.9e38F);
}

TEST(ElementConversion, ReadsFromAnyAddress) {
  const std::array<BFloat16, 3> values{BFloat16(1.5F), BFloat16(-2.0F), BFloat16(3.0F)};
  std::array<std::byte, 7> bytes{};
  std::memcpy(bytes.data() + 1, values.data(), sizeof(values));
  std::array<float, 3> to{};
  convert_elements(bytes.data() + 1, DType::bf16, to.data(), DType::f32, 3);
  EXPECT_EQ(to, (std::array{1.5F, -2.0F, 3.0F}));
}

}  // namespace element_conversion_test
}  // namespace mpitron::checkpoint

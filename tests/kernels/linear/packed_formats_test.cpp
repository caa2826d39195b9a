#include "kernels/linear/packed_formats.h"

#include <gtest/gtest.h>

namespace mpitron::kernels {
namespace packed_formats_test {

TEST(PackedFormats, HaveNamesAndSizes) {
  for (const WeightFormatFacts& format : kWeightFormats) {
    ASSERT_TRUE(weight_format(format.name));
    EXPECT_EQ(facts(*weight_format(format.name)).name, format.name);
  }
  EXPECT_FALSE(weight_format("auto"));
  EXPECT_EQ(weight_format(DType::bf16), WeightFormat::bf16);
  EXPECT_EQ(packed_bytes(WeightFormat::fp32, 17, 3), 2 * 16 * 3 * 4);
  EXPECT_EQ(packed_bytes(WeightFormat::bf16, 16, 33), 16 * 64 * 2);
  EXPECT_EQ(packed_bytes(WeightFormat::int8, 16, 64), 16 * 64 + 64);
  EXPECT_EQ(packed_bytes(WeightFormat::q4, 16, 64), 16 * 64 / 2 + 2 * 32);
}

TEST(PackedFormats, RoundToTheNearestInteger) {
  const float scale = scale_of_8_bits(254);
  EXPECT_EQ(scale, 2);
  EXPECT_EQ(rounded_8_bits(-254, reciprocal_of(scale)), -127);
  EXPECT_EQ(rounded_8_bits(5, reciprocal_of(scale)), 2);  // 2.5: to the even one
  EXPECT_EQ(rounded_8_bits(3, reciprocal_of(0)), 0);
  const auto of_four = static_cast<float>(scale_of_4_bits(-8));
  EXPECT_EQ(of_four, 1);
  EXPECT_EQ(rounded_4_bits(-8, reciprocal_of(of_four)), 0);
  EXPECT_EQ(rounded_4_bits(8, reciprocal_of(of_four)), 15);
  EXPECT_EQ(rounded_4_bits(0, reciprocal_of(of_four)), 8);
}

}  // namespace packed_formats_test
}  // namespace mpitron::kernels

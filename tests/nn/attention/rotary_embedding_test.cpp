#include "nn/attention/rotary_embedding.h"

#include <cmath>

#include <gtest/gtest.h>

#include "support/tensors.h"

namespace mpitron::nn {
namespace rotary_embedding_test {

class RotaryTablesTest : public ::testing::Test {
 protected:
  RotaryTablesTest() { config_.kv_channels = 8; }
  std::unique_ptr<device::Device> device_ = device::make_device("reference");
  config::ModelConfig config_;
};

TEST_F(RotaryTablesTest, HoldCosineAndSineOfEveryPosition) {
  const ops::RotaryTables tables = make_rotary_tables(*device_, config_, 5, DType::f32);
  EXPECT_EQ(tables.cos.shape(), (Shape{5, 4}));
  EXPECT_FALSE(tables.interleaved);
  // Position 3, frequency 10000^(-2/8) = 0.1.
  EXPECT_NEAR(test::values_of(tables.cos)[3 * 4 + 1], std::cos(0.3), 1e-7);
  EXPECT_NEAR(test::values_of(tables.sin)[3 * 4 + 1], std::sin(0.3), 1e-7);
}

TEST_F(RotaryTablesTest, PartialAndInterpolatedRotation) {
  config_.rotary_percent = 0.5;
  config_.rotary_seq_len_interpolation_factor = 4;
  config_.rotary_interleaved = true;
  const ops::RotaryTables tables = make_rotary_tables(*device_, config_, 5, DType::f32);
  EXPECT_EQ(tables.cos.shape(), (Shape{5, 2}));
  EXPECT_TRUE(tables.interleaved);
  EXPECT_NEAR(test::values_of(tables.sin)[2 * 2], std::sin(0.5), 1e-7);
}

/// The reference rounds the tables to the activations' type.
TEST_F(RotaryTablesTest, AreRoundedToTheActivationsType) {
  const ops::RotaryTables half = make_rotary_tables(*device_, config_, 3, DType::bf16);
  const ops::RotaryTables full = make_rotary_tables(*device_, config_, 3, DType::f32);
  const std::vector<double> a = test::values_of(half.cos), b = test::values_of(full.cos);
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_NEAR(a[i], b[i], std::abs(b[i]) * 0x1p-8);
  }
  EXPECT_NE(a, b);
}

}  // namespace rotary_embedding_test
}  // namespace mpitron::nn

#include <cmath>

#include <gtest/gtest.h>

#include "kernels/fp8_round.h"
#include "tests/kernels/test_tensor.h"

namespace mpitron::kernels {
namespace {

device::ReferenceStream stream;

TEST(ReferenceFp8Round, ABlockHasItsOwnScale) {
  // 300 is scaled by 1, its neighbours' distance is 32; 1 by 2^8.
  TestTensor x(DType::f32, {2, 2}, {300, 1.03, 2, 1}), y(DType::f32, {2, 2});
  run(stream, Fp8Round{x.view(), y.view(), {}, 1, 1});
  EXPECT_EQ(y.values(), (std::vector<double>{288, 1, 2, 1}));
  run(stream, Fp8Round{x.view(), y.view(), {}});
  EXPECT_EQ(y.values(), (std::vector<double>{288, 1, 2, 1}));
}

TEST(ReferenceFp8Round, SmallNumbersOfABlockLoseTheirBits) {
  TestTensor x(DType::f32, {1, 4}, {448, 0.001, 0.003, -NAN}), y(DType::f32, {1, 4});
  run(stream, Fp8Round{x.view(), y.view(), {}, 1, 0});
  EXPECT_EQ(y.values()[0], 448);
  EXPECT_EQ(y.values()[1], 0x1p-9);  // the least number of e4m3
  EXPECT_EQ(y.values()[2], 0x1p-8);
  EXPECT_TRUE(std::isnan(y.values()[3]));
  TestTensor alone(DType::f32, {1, 1}, {0.003});
  run(stream, Fp8Round{alone.view(), alone.view(), {}});
  EXPECT_NEAR(alone.values()[0], 0.003, 0.003 / 16);
}

TEST(ReferenceFp8Round, AMarginLeavesRoom) {
  TestTensor x(DType::f32, {1, 2}, {448, 0x1p-9}), y(DType::f32, {1, 2});
  run(stream, Fp8Round{x.view(), y.view(), {}, 0, 0, Fp8Format::e4m3, 2});
  EXPECT_EQ(y.values(), (std::vector<double>{448, 0}));  // 2^-11 rounds to 0
}

}  // namespace
}  // namespace mpitron::kernels

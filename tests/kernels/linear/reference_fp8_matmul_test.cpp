#include <gtest/gtest.h>

#include "kernels/linear/fp8_matmul.h"
#include "tests/kernels/test_tensor.h"

namespace mpitron::kernels {
namespace reference_fp8_matmul_test {

using Numbers = std::vector<double>;

device::ReferenceStream stream;

/// A matrix in 8 bits with its scales.
struct Factor {
  Factor(const Shape& shape, const Numbers& numbers, Fp8Blocks blocks_ = {},
         Fp8Scaling scaling_ = {})
      : blocks(blocks_),
        scaling(scaling_),
        x(DType::f32, shape, numbers),
        amax(DType::f32, {blocks.down(shape[0]), blocks.across(shape[1])}),
        values(DType::u8, shape) {
    run(stream, Fp8Amax{x.view(), amax.view(), {}, blocks});
    run(stream, Fp8Quantize{x.view(), amax.view(), values.view(), blocks, scaling});
  }
  Fp8Factor factor() { return {values.view(), amax.view(), blocks, scaling}; }

  Fp8Blocks blocks;
  Fp8Scaling scaling;
  TestTensor x, amax, values;
};

TEST(ReferenceFp8Matmul, DividesByTheScales) {
  Factor a({1, 2}, {2, -0.5}), b({2, 2}, {1, 0.25, 0.5, -1}, {}, {Fp8Format::e5m2});
  TestTensor c(DType::f32, {1, 2}, {10, 20}), bias(DType::f32, {2}, {100, 200});
  run(stream, Fp8Matmul{a.factor(), b.factor(), bias.view(), c.view(), {}});
  EXPECT_EQ(c.values(), (Numbers{101.875, 201.5}));
  run(stream, Fp8Matmul{a.factor(), b.factor(), {}, c.view(), {}, true});
  EXPECT_EQ(c.values(), (Numbers{103.75, 203}));
}

TEST(ReferenceFp8Matmul, BlocksKeepSmallNumbersBesideLargeOnes) {
  const Fp8Scaling powers{.power_of_two = true};
  const Numbers numbers{448, 0x1p-12};
  Factor whole({1, 2}, numbers, {}, powers), blocks({1, 2}, numbers, {1, 1}, powers);
  Factor ones({1, 2}, {1, 1}, {}, powers), one_blocks({1, 2}, {1, 1}, {1, 1}, powers);
  TestTensor c(DType::f32, {1, 1});
  run(stream, Fp8Matmul{whole.factor(), ones.factor(), {}, c.view(), {}});
  EXPECT_EQ(c.values(), Numbers{448});
  run(stream, Fp8Matmul{blocks.factor(), one_blocks.factor(), {}, c.view(), {}});
  EXPECT_EQ(c.values(), Numbers{448 + 0x1p-12});
}

}  // namespace reference_fp8_matmul_test
}  // namespace mpitron::kernels

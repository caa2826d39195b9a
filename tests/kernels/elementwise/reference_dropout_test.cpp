#include <gtest/gtest.h>

#include "kernels/elementwise/dropout.h"
#include "tests/kernels/test_tensor.h"

namespace mpitron::kernels {
namespace reference_dropout_test {

device::ReferenceStream stream;

TEST(ReferenceDropout, WithoutDropoutItIsBiasAndResidual) {
  TestTensor x(DType::f32, {1, 2}, {1, 2}), bias(DType::f32, {2}, {10, 20});
  TestTensor residual(DType::f32, {1, 2}, {100, 200}), y(DType::f32, {1, 2});
  run(stream, BiasDropoutAddForward{x.view(), bias.view(), residual.view(), y.view(), 1, {}});
  EXPECT_EQ(y.values(), (std::vector<double>{111, 222}));
}

TEST(ReferenceDropout, KeepsTheShareItShouldAndScalesIt) {
  const std::vector<double> ones(64 * 256, 1);
  TestTensor x(DType::f64, {64, 256}, ones), y(DType::f64, {64, 256}), dx(DType::f64, {64, 256});
  BiasDropoutAddForward kernel{x.view(), {}, {}, y.view(), 2, {}};
  kernel.mask.key = {1, 2};
  kernel.mask.threshold = dropout_threshold(0.25);
  run(stream, kernel);
  double kept = 0;
  for (const double value : y.values()) {
    ASSERT_TRUE(value == 0 || value == static_cast<double>(kernel.mask.keep_scale())) << value;
    kept += value != 0 ? 1 : 0;
  }
  EXPECT_NEAR(kept / (64 * 256), 0.75, 0.02);
  run(stream, DropoutBackward{x.view(), dx.view(), 2, kernel.mask});
  EXPECT_EQ(dx.values(), y.values());
}

// The right half of a hidden dimension and the odd samples, cut out of the whole.
TEST(ReferenceDropout, AShareHasTheMaskOfTheWhole) {
  const std::vector<double> ones(4 * 4 * 64, 1);
  TestTensor x(DType::f64, {16, 64}, ones), whole(DType::f64, {4, 4, 64});
  BiasDropoutAddForward kernel{x.view(), {}, {}, whole.view(), 4, {}};
  kernel.mask.threshold = dropout_threshold(0.5);
  run(stream, kernel);

  TestTensor x_local(DType::f64, {4, 32}, std::vector<double>(4 * 32, 1));
  TestTensor part(DType::f64, {2, 2, 32});
  kernel.x = x_local.view();
  kernel.y = part.view();
  kernel.batch = 2;
  kernel.mask.index = {1, {3, 0}, 1, 2, 32};  // positions 3 and 1, samples 1 and 3, columns 32..63
  run(stream, kernel);
  const reference::Writer all(whole.view()), mine(part.view());
  for (Index column = 0; column < 32; ++column) {
    EXPECT_EQ(mine(0, 0, column), all(3, 1, column + 32));
    EXPECT_EQ(mine(0, 1, column), all(3, 3, column + 32));
    EXPECT_EQ(mine(1, 1, column), all(1, 3, column + 32));
  }
}

}  // namespace reference_dropout_test
}  // namespace mpitron::kernels

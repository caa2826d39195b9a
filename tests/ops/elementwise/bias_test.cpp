#include "ops/elementwise/bias.h"

#include "ops/gradient_check.h"

namespace mpitron::ops {
namespace bias_test {

using BiasTest = GradientCheck;

TEST_F(BiasTest, AnAbsentBiasIsAnAbsentArgument) {
  EXPECT_FALSE(value_of(nullptr));
  EXPECT_EQ(value_of(&parameter({3})).shape, Shape{3});
  Context cx = context();
  accumulate_bias(cx, nullptr, random({2, 3}));
}

TEST_F(BiasTest, SumsOverAllRowsAndAddsTheSecondTime) {
  Parameter& bias = parameter({2});
  Context cx = context();
  const Tensor dy =
      test::make_tensor(*device_, {2, 2, 2}, DType::f64, {1, 10, 2, 20, 3, 30, 4, 40});
  accumulate_bias(cx, &bias, dy);
  EXPECT_EQ(test::values_of(bias.sink.main_grad), (std::vector<double>{10, 100}));
  accumulate_bias(cx, &bias, dy);
  EXPECT_EQ(test::values_of(bias.sink.main_grad), (std::vector<double>{20, 200}));
}

}  // namespace bias_test
}  // namespace mpitron::ops

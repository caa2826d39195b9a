#include "ops/experts/router_noise.h"

#include "ops/gradient_check.h"

namespace mpitron::ops {
namespace router_noise_test {

using RouterNoiseTest = GradientCheck;

TEST_F(RouterNoiseTest, JitterBackwardIsTheGradient) {
  expect_gradients({random({6, 5})}, [](Context& context, const std::vector<Var>& x) {
    return jitter(
        context, x[0], 0.3,
        token_noise(context, {}, 3, 2, {.seed = 1, .iteration = 2, .layer = 3, .site = 4}));
  });
}

TEST_F(RouterNoiseTest, NumbersBelongToSamplesAndUses) {
  Context cx = context();
  const Tensor like = random({4, 3});
  const auto numbers = [&](Index sample, std::uint32_t layer) {
    cx.position.first_sample = sample;
    return test::values_of(random_logits(
        cx, like,
        token_noise(cx, {}, 2, 2, {.seed = 1, .iteration = 2, .layer = layer, .site = 0})));
  };
  EXPECT_EQ(numbers(0, 1), numbers(0, 1));
  EXPECT_NE(numbers(0, 1), numbers(0, 2));
  const std::vector<double> first = numbers(0, 1), next = numbers(1, 1);
  // Sample 1 is the second of [0, 1] and the first of [1, 2].
  EXPECT_TRUE(std::equal(first.begin() + 3, first.begin() + 6, next.begin()));
}

}  // namespace router_noise_test
}  // namespace mpitron::ops

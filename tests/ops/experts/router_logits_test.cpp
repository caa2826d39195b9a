#include "ops/experts/router_logits.h"

#include "ops/gradient_check.h"

namespace mpitron::ops {
namespace router_logits_test {

using RouterLogitsTest = GradientCheck;

TEST_F(RouterLogitsTest, BackwardIsTheGradient) {
  Parameter &weight = parameter({3, 4}), &bias = parameter({3});
  expect_gradients({random({5, 4})}, [&](Context& context, const std::vector<Var>& x) {
    return router_logits(context, x[0], weight, &bias, DType::f64);
  });
}

/// In another type: logits, gradients and the second microbatch are those of converted arguments.
TEST_F(RouterLogitsTest, ConvertsItsArguments) {
  Parameter &weight = parameter({3, 4}), &bias = parameter({3});
  Parameter &wide = parameter({3, 4}), &wide_bias = parameter({3});
  std::uint64_t seed = 3;
  for (const auto& [narrow, same] : {std::pair{&weight, &wide}, {&bias, &wide_bias}}) {
    const Shape shape = narrow->value.shape();
    narrow->value = test::random_tensor(*device_, shape, DType::bf16, seed++);
    narrow->sink.main_grad = Tensor::empty(*device_, shape, DType::f32);
    same->value = test::make_tensor(*device_, shape, DType::f64, test::values_of(narrow->value));
  }
  const Tensor x = test::random_tensor(*device_, {5, 4}, DType::bf16, 2);
  const Tensor wide_x = test::make_tensor(*device_, {5, 4}, DType::f64, test::values_of(x));
  const Tensor dy = random({5, 3});
  const auto pass = [&](const Tensor& input, Parameter& by, Parameter& added) {
    Tape tape;
    Context cx = context(&tape);
    const Var v = autograd::variable(input), y = router_logits(cx, v, by, &added, DType::f64);
    tape.backward(cx, y.slot, dy);
    return std::pair{test::values_of(y.value), v.slot.gradient()};
  };
  for (int microbatch = 0; microbatch < 2; ++microbatch) {
    const auto [logits, dx] = pass(x, weight, bias);
    const auto [expected, wide_dx] = pass(wide_x, wide, wide_bias);
    EXPECT_EQ(logits, expected);
    EXPECT_EQ(dx.dtype(), DType::bf16);
    const std::vector<double> got = test::values_of(dx), want = test::values_of(wide_dx);
    for (std::size_t i = 0; i < got.size(); ++i) {
      EXPECT_NEAR(got[i], want[i], 0x1p-8 * std::abs(want[i]));
    }
  }
  for (const auto& [narrow, same] : {std::pair{&weight, &wide}, {&bias, &wide_bias}}) {
    const std::vector<double> got = test::values_of(narrow->sink.main_grad),
                              want = test::values_of(same->sink.main_grad);
    for (std::size_t i = 0; i < got.size(); ++i) {
      EXPECT_NEAR(got[i], want[i], 1e-6);
    }
  }
}

TEST_F(RouterLogitsTest, TheHostAgreesInEveryType) {
  const auto host = device::make_device("host");
  Parameter& weight = parameter({6, 40});
  for (const DType type : {DType::f32, DType::bf16}) {
    for (const DType logits_type : {DType::f32, DType::f64}) {
      const Tensor x = test::random_tensor(*device_, {9, 40}, type, 2);
      weight.value = test::random_tensor(*device_, {6, 40}, type, 3);
      Context cx = context();
      const auto expected = test::values_of(
          router_logits(cx, autograd::constant(x), weight, nullptr, logits_type).value);
      Context host_context{.device = *host};
      const auto got = test::values_of(
          router_logits(host_context, autograd::constant(x), weight, nullptr, logits_type).value);
      for (std::size_t i = 0; i < got.size(); ++i) {
        EXPECT_NEAR(got[i], expected[i], 1e-5);
      }
    }
  }
}

}  // namespace router_logits_test

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

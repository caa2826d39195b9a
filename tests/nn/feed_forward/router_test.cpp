#include "nn/feed_forward/router.h"

#include <numeric>

#include "nn/feed_forward/router_fixture.h"
#include "nn/layer_fixture.h"

namespace mpitron::nn {
namespace router_test {

TEST_F(RouterTest, EveryTokenVisitsItsExperts) {
  const ops::ExpertVisits all = visits();
  EXPECT_EQ(std::accumulate(all.counts.begin(), all.counts.end(), Index{0}), 20);
  const std::vector<double> p = test::values_of(all.probabilities.value);
  EXPECT_NEAR(std::accumulate(p.begin(), p.end(), 0.0), 10, 1e-5);  // softmax of the chosen ones
}

TEST_F(RouterTest, CapacityIsCutOffAtTheTokens) {
  moe().capacity_factor = 0.5;
  EXPECT_LE(std::ranges::max(visits().counts), 3);
  moe().capacity_factor = 100;
  moe().pad_to_capacity = true;
  EXPECT_EQ(visits().counts, (std::vector<Index>{10, 10, 10, 10}));
}

TEST_F(RouterTest, ABiasDrawsTokensAndIsABuffer) {
  moe().score = config::RouterScore::sigmoid;
  moe().expert_bias = true;
  const Router router(builder_, 3);
  initialize();
  ASSERT_EQ(parameters_.buffers().size(), 1u);
  const autograd::Buffer& bias = parameters_.buffers().front();
  EXPECT_EQ(bias.name, "expert_bias");
  test::set_values(bias.value, {0, 0, 5, 5});
  Context cx = context();
  EXPECT_EQ(router.forward(cx, input()).counts, (std::vector<Index>{0, 0, 10, 10}));
}

TEST_F(RouterTest, ForcedBalanceDoesNotLookAtTokens) {
  moe().force_load_balancing = true;
  moe().topk = 1;
  const auto rows = test::values_of(visits().rows);
  config_.init_method_std = 0.7;  // other weights, other logits
  EXPECT_EQ(test::values_of(visits().rows), rows);
}

/// As in the reference: of two evaluations both draw the same.
TEST_F(RouterTest, JitterActsInEvaluationsToo) {
  Context cx = context();
  const auto probabilities = [&] { return test::bits_of(visits(cx).probabilities.value); };
  const auto plain = probabilities();
  moe().input_jitter_eps = 0.2;
  const auto jittered = probabilities();
  EXPECT_NE(jittered, plain);
  cx.mode = autograd::Mode::evaluate;
  EXPECT_EQ(probabilities(), jittered);
}

TEST_F(RouterTest, SinkhornBalancesInTrainingOnly) {
  moe().sinkhorn = true;
  moe().topk = 1;
  const Router router(builder_, 3);
  initialize();
  // The first number of every token speaks for expert 0.
  const Tensor& weight = parameters_.find("weight")->value;
  std::vector<double> weights = test::values_of(weight);
  weights[0] = 2;
  test::set_values(weight, weights);
  std::vector<double> numbers = test::values_of(input().value);
  for (std::size_t token = 0; token < 10; ++token) {
    numbers[16 * token] = 3;
  }
  const Var x = autograd::constant(test::make_tensor(*device_, {5, 2, 16}, DType::f32, numbers));
  Context cx = context();
  EXPECT_LT(router.forward(cx, x).counts[0], 10);
  cx.mode = autograd::Mode::evaluate;
  EXPECT_EQ(router.forward(cx, x).counts[0], 10);
}

TEST_F(RouterTest, RoutesInItsOwnPrecision) {
  config_.params_dtype = DType::bf16;
  config_.add_bias_linear = false;
  for (const std::optional<DType> dtype :
       {std::optional<DType>(), std::optional(DType::f32), std::optional(DType::f64)}) {
    moe().router_dtype = dtype;
    parameters_ = {};
    const Router router(builder_, 1);
    initialize();
    Tape tape;
    Context cx = context(&tape);
    const Var x = autograd::variable(test::random_tensor(*device_, {5, 2, 16}, DType::bf16, 7));
    const Var p = router.forward(cx, x).probabilities;
    EXPECT_EQ(p.value.dtype(), DType::f32);
    tape.backward(cx, p.slot, test::random_tensor(*device_, p.shape(), DType::f32, 8));
    EXPECT_EQ(x.slot.gradient().dtype(), DType::bf16);
  }
}

}  // namespace router_test

}  // namespace mpitron::nn

#include "ops/experts/expert_visits.h"
#include "ops/gradient_check.h"

namespace mpitron::ops {
namespace top_k_routing_test {

using TopKRoutingTest = GradientCheck;

TEST_F(TopKRoutingTest, BackwardIsTheGradient) {
  for (const RoutingRule& rule :
       {RoutingRule{}, RoutingRule{.pre_softmax = true, .scaling = 2},
        RoutingRule{.score = RouterScore::sigmoid, .groups = 2, .group_topk = 1},
        RoutingRule{.score = RouterScore::sqrt_softplus}}) {
    expect_gradients({random({5, 4})}, [&](Context& context, const std::vector<Var>& x) {
      return top_k_routing(context, x[0], 2, rule).probabilities;
    });
  }
}

TEST_F(TopKRoutingTest, AnExpertBiasChoosesAndDoesNotWeigh) {
  Context cx = context();
  const Var logits = autograd::constant(test::make_tensor(*device_, {1, 3}, DType::f64, {0, 0, 0}));
  const RoutingRule rule{.score = RouterScore::sigmoid};
  const Tensor bias = test::make_tensor(*device_, {3}, DType::f32, {0, 0, 1});
  const Routing routing =
      top_k_routing(cx, logits, 1, rule, {.chosen_by = {}, .expert_bias = bias});
  EXPECT_EQ(test::values_of(routing.experts), std::vector<double>{2});
  EXPECT_EQ(test::values_of(routing.probabilities.value), std::vector<double>{0.5});
}

TEST_F(TopKRoutingTest, SinkhornUsesAllExperts) {
  Context cx = context();
  // Every token prefers expert 0.
  const Var logits = autograd::constant(
      test::make_tensor(*device_, {4, 2}, DType::f64, {3, 0, 2, 0, 1, 0, 0.5, 0}));
  const Tensor scores = sinkhorn_scores(cx, logits.value);
  const Routing routing = top_k_routing(cx, logits, 1, {.score = RouterScore::sigmoid},
                                        {.chosen_by = scores, .expert_bias = {}});
  EXPECT_EQ(test::values_of(routing.experts), (std::vector<double>{0, 0, 1, 1}));
}

TEST_F(TopKRoutingTest, OtherValuesPassTheGradientOn) {
  Tape tape;
  Context cx = context(&tape);
  const Var x = autograd::variable(random({2, 2}));
  const Tensor values = random({2, 2});
  const Var y = with_values(cx, x, values);
  EXPECT_EQ(test::values_of(y.value), test::values_of(values));
  const Tensor dy = random({2, 2});
  tape.backward(cx, y.slot, dy);
  EXPECT_EQ(test::values_of(x.slot.gradient()), test::values_of(dy));
}

}  // namespace top_k_routing_test
}  // namespace mpitron::ops

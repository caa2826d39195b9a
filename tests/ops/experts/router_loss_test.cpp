#include "ops/experts/router_loss.h"

#include "ops/gradient_check.h"

namespace mpitron::ops {
namespace router_loss_test {

using RouterLossTest = GradientCheck;

TEST_F(RouterLossTest, BackwardIsTheGradient) {
  for (const kernels::RouterScore score :
       {kernels::RouterScore::softmax, kernels::RouterScore::sigmoid,
        kernels::RouterScore::sqrt_softplus}) {
    for (const Index sets : {1, 2}) {
      expect_gradients({random({6, 4})}, [&](Context& context, const std::vector<Var>& x) {
        return balance_loss(context, x[0], {score, 2}, {.sets = sets});
      });
    }
  }
  expect_gradients({random({6, 4})}, [](Context& context, const std::vector<Var>& x) {
    return router_z_loss(context, x[0], 2);
  });
}

/// Equal scores of all experts, of which each is chosen equally often.
TEST_F(RouterLossTest, EvenUseIsOne) {
  Context cx = context();
  const Var even =
      autograd::constant(test::make_tensor(*device_, {2, 2}, DType::f64, {1e-9, 0, 0, 1e-9}));
  for (const kernels::RouterScore score :
       {kernels::RouterScore::softmax, kernels::RouterScore::sigmoid,
        kernels::RouterScore::sqrt_softplus}) {
    const double factor = score == kernels::RouterScore::softmax ? 1 : 0.5 * 2;
    EXPECT_NEAR(test::values_of(balance_loss(cx, even, {score, 1}, {}).value)[0], factor, 1e-6);
  }
  // All tokens want expert 0.
  const Var uneven =
      autograd::constant(test::make_tensor(*device_, {2, 2}, DType::f64, {40, 0, 40, 0}));
  const Var loss = balance_loss(cx, uneven, {kernels::RouterScore::softmax, 1}, {});
  EXPECT_NEAR(test::values_of(loss.value)[0], 2, 1e-6);
}

}  // namespace router_loss_test
}  // namespace mpitron::ops

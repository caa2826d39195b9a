#include "ops/loss/soft_targets.h"

#include "ops/gradient_check.h"

namespace mpitron::ops {
namespace soft_targets_test {

class SoftTargetsTest : public GradientCheck {};

TEST_F(SoftTargetsTest, BackwardIsTheGradient) {
  Context cx = context();
  const SoftTargets targets{sharp_softmax(cx, random({2, 5}), random({5}), 0.5),
                            test::make_ids(*device_, {3, 2}, {1, -1, -1, 0, 0, 1})};
  expect_gradients({random({3, 5})}, [&](Context& context, const std::vector<Var>& x) {
    return soft_cross_entropy(context, x[0], targets, 0.5);
  });
}

TEST_F(SoftTargetsTest, TheCentreIsTakenFromTheTeacher) {
  Context cx = context();
  const Tensor x = test::make_tensor(*device_, {1, 2}, DType::f64, {3, 5});
  const Tensor centre = test::make_tensor(*device_, {2}, DType::f64, {2, 4});
  for (const double share : test::values_of(sharp_softmax(cx, x, centre, 0.5))) {
    EXPECT_NEAR(share, 0.5, 1e-12);
  }
}

}  // namespace soft_targets_test
}  // namespace mpitron::ops

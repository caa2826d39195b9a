#include "ops/loss/preference_loss.h"

#include "comm/groups/world.h"
#include "ops/gradient_check.h"

namespace mpitron::ops {
namespace preference_loss_test {

class PreferenceLossTest : public GradientCheck {
 protected:
  Tensor numbers(const Shape& shape, const std::vector<double>& values) {
    return test::make_tensor(*device_, shape, DType::f64, values);
  }
  std::unique_ptr<comm::World> world_ = comm::make_single_world();
  std::shared_ptr<comm::Group> alone_ = world_->all();
};

TEST_F(PreferenceLossTest, BackwardIsTheGradient) {
  const PreferencePairs pairs{.weights = numbers({3, 2}, {1, -0.5, 1, 0.5, -1, 0}),
                              .reference = numbers({2}, {0.3, -0.8}),
                              .beta = 0.7,
                              .label_smoothing = 0.1};
  expect_gradients({random({3, 2})}, [&](Context& context, const std::vector<Var>& x) {
    return preference_loss(context, x[0], pairs, *alone_).loss;
  });
}

TEST_F(PreferenceLossTest, TheReferenceItselfHasNoMargin) {
  Context cx = context();
  const PreferencePairs pairs{
      .weights = numbers({2, 1}, {1, -1}), .reference = numbers({1}, {-0.5}), .beta = 2};
  const PreferenceLosses same =
      preference_loss(cx, autograd::variable(numbers({2, 1}, {1.5, 1})), pairs, *alone_);
  EXPECT_EQ(test::values_of(same.margin), std::vector<double>{0});
  EXPECT_NEAR(test::values_of(same.loss.value)[0], std::log(2.0), 1e-12);
  const PreferenceLosses better =
      preference_loss(cx, autograd::variable(numbers({2, 1}, {0.5, 1})), pairs, *alone_);
  EXPECT_EQ(test::values_of(better.margin), std::vector<double>{2});
  EXPECT_EQ(test::values_of(better.right), std::vector<double>{1});
}

}  // namespace preference_loss_test
}  // namespace mpitron::ops

#include "nn/feed_forward/mlp.h"

#include "nn/layer_fixture.h"

namespace mpitron::nn {
namespace mlp_test {

using MlpTest = LayerTest;

TEST_F(MlpTest, HandsItsOutputBiasToTheResidualAddition) {
  const Mlp mlp(builder_);
  initialize();
  Context cx = context();
  const BranchOutput branch = mlp.forward(cx, input());
  EXPECT_EQ(branch.output.shape(), (Shape{5, 2, 16}));
  EXPECT_EQ(branch.bias, parameters_.find("linear_fc2.bias"));
  EXPECT_EQ(mlp.output_bias(), branch.bias);
}

TEST_F(MlpTest, AGatedUnitHasTwoHalves) {
  config_.gated_linear_unit = true;
  config_.activation = config::ActivationKind::silu;
  config_.add_bias_linear = false;
  const Mlp mlp(builder_);
  EXPECT_EQ(parameters_.find("linear_fc1.weight")->shape, (Shape{64, 16}));
  EXPECT_EQ(parameters_.find("linear_fc2.weight")->shape, (Shape{16, 32}));
  EXPECT_EQ(parameters_.size(), 2u);
}

TEST_F(MlpTest, EveryActivationIsAnother) {
  std::vector<Step> steps;
  for (const auto kind : {config::ActivationKind::gelu_tanh, config::ActivationKind::gelu_erf,
                          config::ActivationKind::silu, config::ActivationKind::squared_relu}) {
    config_.activation = kind;
    parameters_ = {};
    const Mlp mlp(builder_);
    steps.push_back(
        step([&](Context& context, const Var& x) { return mlp.forward(context, x).output; }));
    for (std::size_t i = 0; i + 1 < steps.size(); ++i) {
      EXPECT_NE(steps[i], steps.back());
    }
  }
}

}  // namespace mlp_test
}  // namespace mpitron::nn

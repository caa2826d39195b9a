#include "nn/layer_fixture.h"
#include "nn/state_space/recurrent_layers.h"

namespace mpitron::nn {
namespace gated_delta_net_test {

class GatedDeltaNetTest : public LayerTest {
 protected:
  GatedDeltaNetTest() {
    config_.hybrid.delta_net = {
        .conv_width = 3, .key_dim = 4, .value_dim = 5, .key_heads = 2, .value_heads = 4};
  }
};

TEST_F(GatedDeltaNetTest, HasTheReferencesParameters) {
  const GatedDeltaNet net(builder_, 1);
  EXPECT_EQ(names(), (std::vector<std::string>{"in_proj.weight", "conv1d.weight", "dt_bias",
                                               "A_log", "out_norm.weight", "out_proj.weight"}));
  // Queries and keys of 8, values and gate of 20, beta and alpha of 4.
  EXPECT_EQ(parameters_.find("in_proj.weight")->shape, (Shape{8 + 8 + 20 + 20 + 4 + 4, 16}));
  EXPECT_EQ(parameters_.find("conv1d.weight")->shape, (Shape{8 + 8 + 20, 1, 3}));
  EXPECT_EQ(parameters_.find("out_norm.weight")->shape, (Shape{5}));
}

TEST_F(GatedDeltaNetTest, EveryParameterHasAGradientAndEveryStepTheSameBits) {
  const GatedDeltaNet net(builder_, 1);
  const auto forward = [&](Context& context, const Var& x) {
    return net.forward(context, x, {}).output;
  };
  const Step first = step(forward);
  for (const autograd::Parameter& parameter : parameters_) {
    double largest = 0;
    for (const double value : test::values_of(parameter.sink.main_grad)) {
      largest = std::max(largest, std::abs(value));
    }
    EXPECT_GT(largest, 0) << parameter.name;
  }
  EXPECT_EQ(first, step(forward));
}

}  // namespace gated_delta_net_test
}  // namespace mpitron::nn

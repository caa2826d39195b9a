#include "nn/layer_fixture.h"
#include "nn/state_space/recurrent_layers.h"

namespace mpitron::nn {
namespace mamba_mixer_test {

class MambaMixerTest : public LayerTest {
 protected:
  MambaMixerTest() {
    config_.hybrid.mamba = {.state_dim = 3, .head_dim = 4, .groups = 2, .heads = 6};
  }
  Step step_of(const MambaMixer& mixer) {
    return step(
        [&](Context& context, const Var& x) { return mixer.forward(context, x, {}).output; });
  }
};

TEST_F(MambaMixerTest, HasTheReferencesParameters) {
  const MambaMixer mixer(builder_, 1);
  EXPECT_EQ(names(),
            (std::vector<std::string>{"in_proj.weight", "conv1d.weight", "conv1d.bias", "dt_bias",
                                      "A_log", "D", "norm.weight", "out_proj.weight"}));
  // Gate and x of 24, B and C of 2 * 3, 6 steps.
  EXPECT_EQ(parameters_.find("in_proj.weight")->shape, (Shape{24 + 24 + 6 + 6 + 6, 16}));
  EXPECT_EQ(parameters_.find("conv1d.weight")->shape, (Shape{24 + 6 + 6, 1, 4}));
}

TEST_F(MambaMixerTest, EveryParameterHasAGradient) {
  const MambaMixer mixer(builder_, 1);
  const Step first = step_of(mixer);
  for (const autograd::Parameter& parameter : parameters_) {
    double largest = 0;
    for (const double value : test::values_of(parameter.sink.main_grad)) {
      largest = std::max(largest, std::abs(value));
    }
    EXPECT_GT(largest, 0) << parameter.name;
  }
  EXPECT_EQ(first, step_of(mixer));
}

/// The last position changes no other one.
TEST_F(MambaMixerTest, LooksAtNoLaterPosition) {
  const MambaMixer mixer(builder_, 1);
  initialize();
  Context cx = context();
  const Var x = input();
  const std::vector<double> before = test::values_of(mixer.forward(cx, x, {}).output.value);
  std::vector<double> changed = test::values_of(x.value);
  changed.back() += 1;
  test::set_values(x.value, changed);
  const std::vector<double> after = test::values_of(mixer.forward(cx, x, {}).output.value);
  for (std::size_t i = 0; i < before.size(); ++i) {
    EXPECT_EQ(before[i] != after[i], i >= 4 * 2 * 16 + 16) << i;
  }
}

}  // namespace mamba_mixer_test
}  // namespace mpitron::nn

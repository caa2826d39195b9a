#include "nn/layers/masked_lm_head.h"

#include <numbers>

#include "nn/layer_fixture.h"

namespace mpitron::nn {
namespace masked_lm_head_test {

class MaskedLmHeadTest : public LayerTest {};

TEST_F(MaskedLmHeadTest, HasTheReferencesParametersAndTrainsThemAll) {
  const MaskedLmHead head(builder_);
  EXPECT_EQ(names(), (std::vector<std::string>{"dense.weight", "dense.bias", "layer_norm.weight",
                                               "layer_norm.bias"}));
  step([&](Context& cx, const Var& x) { return head.forward(cx, x); });
  for (const autograd::Parameter& parameter : parameters_) {
    EXPECT_TRUE(parameter.sink.written) << parameter.name;
  }
}

/// Norm of the exact GELU of the dense layer, by plain loops.
TEST_F(MaskedLmHeadTest, IsDenseGeluNorm) {
  config_.activation = config::ActivationKind::gelu_tanh;  // not asked
  const MaskedLmHead head(builder_);
  initialize();
  Context cx = context();
  const Var x = input();
  const std::vector<double> y = test::values_of(head.forward(cx, x).value);
  const std::vector<double> rows = test::values_of(x.value);
  const std::vector<double> weight = test::values_of(parameters_.find("dense.weight")->value);
  for (std::size_t row = 0; row < 10; ++row) {
    double hidden[16], mean = 0, variance = 0;
    for (std::size_t i = 0; i < 16; ++i) {
      double sum = 0;
      for (std::size_t j = 0; j < 16; ++j) {
        sum += rows[16 * row + j] * weight[16 * i + j];
      }
      hidden[i] = 0.5 * sum * (1 + std::erf(sum / std::numbers::sqrt2));
      mean += hidden[i] / 16;
    }
    for (const double value : hidden) {
      variance += (value - mean) * (value - mean) / 16;
    }
    for (std::size_t i = 0; i < 16; ++i) {
      EXPECT_NEAR(y[16 * row + i], (hidden[i] - mean) / std::sqrt(variance + config_.norm_epsilon),
                  2e-5);
    }
  }
}

}  // namespace masked_lm_head_test
}  // namespace mpitron::nn

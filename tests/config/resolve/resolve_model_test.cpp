#include <gtest/gtest.h>

#include "config/flags.h"

namespace mpitron::config {
namespace resolve_model_test {

using test::parse_base;

TEST(ResolveModel, Activations) {
  EXPECT_EQ(parse_base("").run.model.activation, ActivationKind::gelu_tanh);
  EXPECT_EQ(parse_base("--no-bias-gelu-fusion").run.model.activation, ActivationKind::gelu_erf);
  EXPECT_EQ(parse_base("--disable-bias-linear").run.model.activation, ActivationKind::gelu_erf);
  EXPECT_EQ(parse_base("--disable-bias-linear --openai-gelu").run.model.activation,
            ActivationKind::gelu_tanh);
  EXPECT_EQ(parse_base("--squared-relu").run.model.activation, ActivationKind::squared_relu);
  EXPECT_EQ(parse_base("--swiglu").run.model.activation, ActivationKind::silu);
  EXPECT_TRUE(parse_base("--swiglu").run.model.gated_linear_unit);
}

}  // namespace resolve_model_test

}  // namespace mpitron::config

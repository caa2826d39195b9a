#include "plan/model/model_shape.h"

#include <gtest/gtest.h>

#include "utils/error.h"

namespace mpitron::plan {
namespace model_shape_test {

const ModelShape kLlama70b{.layers = 80,
                           .hidden = 8192,
                           .ffn = 28672,
                           .heads = 64,
                           .kv_heads = 8,
                           .head_dim = 128,
                           .gated = true,
                           .vocab = 128256};
const ModelShape kDeepSeek{.layers = 61,
                           .hidden = 7168,
                           .ffn = 18432,
                           .heads = 128,
                           .kv_heads = 128,
                           .head_dim = 192,
                           .gated = true,
                           .vocab = 129280,
                           .experts = 256,
                           .top_k = 8,
                           .moe_ffn = 2048,
                           .shared_ffn = 2048,
                           .dense_layers = 3,
                           .latent_attention = true};

TEST(ModelShape, ParametersAreThosePublished) {
  EXPECT_NEAR(total_parameters(kLlama70b), 70.55e9, 0.01e9);
  EXPECT_NEAR(total_parameters(kDeepSeek), 671e9, 1e9);
  EXPECT_NEAR(active_parameters(kDeepSeek), 37.5e9, 0.5e9);
}

TEST(ModelShape, HardwareFormulaIsThatOfTheArticle) {
  // 96 B s L h^2 (1 + s / 6h + V / 16 L h), arXiv:2104.04473
  const ModelShape gpt{.layers = 96,
                       .hidden = 12288,
                       .ffn = 49152,
                       .heads = 96,
                       .kv_heads = 96,
                       .head_dim = 128,
                       .vocab = 51200,
                       .tied = true};
  const double s = 2048, h = 12288, layers = 96;
  const double expected =
      96 * 1536 * s * layers * h * h * (1 + s / (6 * h) + 51200 / (16 * layers * h));
  EXPECT_NEAR(step_flops(gpt, FlopsFormula::hardware, s, 1536) / expected, 1, 1e-6);
}

TEST(ModelShape, FormulasAreNamed) {
  for (const char* name : {"megatron", "full", "hardware", "6N"}) {
    EXPECT_STREQ(to_string(flops_formula(name)), name);
  }
  EXPECT_THROW(flops_formula("7N"), Error);
}

}  // namespace model_shape_test
}  // namespace mpitron::plan

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "support/tensor_layout.h"
#include "support/tiny_gpt.h"

// Loss, gradients and first weights do not depend on how many ranks share the layers; dropout is
// on.

namespace mpitron::models {
namespace layout_test {

using config::ModelConfig;
using config::RecomputeGranularity;
using test::TensorLayout;
using test::WholeStep;

constexpr Index kSequence = 8;

ModelConfig base() {
  ModelConfig config = test::tiny_gpt();
  config.num_query_groups = 4;
  config.seq_length = kSequence;
  config.params_dtype = DType::f64;
  return config;
}

Batch batch(device::Device& device, Index microbatch) {
  Batch batch = test::tiny_batch(device, kSequence, 2 * microbatch, 2);
  batch[kLabels].data<std::int64_t>()[3] = -1;  // no target
  batch[kLossMask] =
      test::make_tensor(device, {kSequence, 2}, DType::f32, std::vector<double>(2 * kSequence, 1));
  batch[kLossMask].data<float>()[3] = 0;
  return batch;
}

WholeStep run(const ModelConfig& config, const TensorLayout& layout) {
  return test::run_layout(config, layout, batch);
}

double norm(const std::vector<double>& x) {
  double squares = 0;
  for (const double value : x) {
    squares += value * value;
  }
  return std::sqrt(squares);
}

/// |x - y| in units of |y|; a gradient that is nothing but rounding counts against `floor`.
double difference(std::vector<double> x, const std::vector<double>& y, double floor = 0) {
  EXPECT_EQ(x.size(), y.size());
  std::transform(x.begin(), x.end(), y.begin(), x.begin(), std::minus());
  const double result = norm(x) / std::max(norm(y), floor);
  return std::isnan(result) ? INFINITY : result;
}

void expect_same(const WholeStep& step, const WholeStep& alone, double tolerance) {
  EXPECT_LE(difference(step.loss, alone.loss), tolerance);
  const double gradient_norm = std::sqrt(alone.squared_norm);
  EXPECT_NEAR(std::sqrt(step.squared_norm), gradient_norm, tolerance * gradient_norm);
  ASSERT_EQ(step.gradients.size(), alone.gradients.size());
  for (const auto& [name, gradient] : alone.gradients) {
    EXPECT_EQ(step.weights.at(name), alone.weights.at(name)) << name;
    EXPECT_LE(difference(step.gradients.at(name), gradient, 1e-3 * gradient_norm), tolerance)
        << name;
  }
}

struct Variant {
  std::string name;
  std::function<void(ModelConfig&)> change;
};

void use_llama(ModelConfig& config) {
  config.position_embedding_type = config::PositionEmbedding::rope;
  config.normalization = config::Normalization::rms_norm;
  config.activation = config::ActivationKind::silu;
  config.gated_linear_unit = config.untie_embeddings_and_output_weights = true;
  config.add_bias_linear = config.add_qkv_bias = false;
}

void use_gemma(ModelConfig& config) {
  use_llama(config);
  config.activation = config::ActivationKind::gelu_tanh;
  config.untie_embeddings_and_output_weights = false;
  config.apply_layernorm_1p = config.qk_layernorm = true;
  config.post_self_attn_layernorm = config.post_mlp_layernorm = config.scale_embeddings = true;
  config.window_size = {{2, 0}};
  config.window_layers.assign(static_cast<std::size_t>(config.num_layers), true);
  config.window_layers.back() = false;
  config.rotary_base_local = 100;
  config.softmax_scale = 0.3;
  config.attn_logit_softcapping = 0.7;
  config.final_logit_softcapping = 0.9;
}

void use_llama4(ModelConfig& config) {
  use_llama(config);
  config.rotary_interleaved = config.qk_l2_norm = config.qk_l2_norm_with_rope_only = true;
  config.no_rope_layers.assign(static_cast<std::size_t>(config.num_layers), false);
  config.no_rope_layers.back() = true;
  config.attention_chunk_size = 3;
  config.query_scale = {.floor = 2, .growth = 0.5};
}

void use_latent_attention(ModelConfig& config) {
  use_llama(config);
  config.num_query_groups = config.num_attention_heads;
  config.multi_latent_attention = config.qk_layernorm = true;
  config.q_lora_rank = 6;
  config.kv_lora_rank = 5;
  config.qk_head_dim = 3;
  config.qk_pos_emb_head_dim = 2;
  config.v_head_dim = 7;
  config.rope_type = config::RopeType::yarn;
  config.rotary_scaling_factor = 4;
}

void recompute_all(ModelConfig& config) {
  config.recompute_granularity = RecomputeGranularity::full;
  config.recompute_method = config::RecomputeMethod::uniform;
  config.recompute_num_layers = 1;
}

const std::vector<Variant>& variants() {
  static const std::vector<Variant> all = {
      {"Gpt", [](ModelConfig&) {}},
      {"Untied", [](ModelConfig& c) { c.untie_embeddings_and_output_weights = true; }},
      {"Llama", use_llama},
      {"GatedWithBias", [](ModelConfig& c) { c.gated_linear_unit = true; }},
      {"GroupedQueries", [](ModelConfig& c) { c.num_query_groups = 2; }},
      {"OneQueryGroup", [](ModelConfig& c) { c.num_query_groups = 1; }},
      {"GroupedQueriesNormedAndRotated",
       [](ModelConfig& c) {
         use_llama(c);
         c.num_query_groups = 1;
         c.qk_layernorm = true;
       }},
      {"NormOfQueriesAndKeys", [](ModelConfig& c) { c.qk_layernorm = true; }},
      {"UnitQueriesAndKeys", [](ModelConfig& c) { c.qk_l2_norm = true; }},
      {"ZeroCentredNorms", [](ModelConfig& c) { c.apply_layernorm_1p = true; }},
      {"RecomputedLayers", recompute_all},
      {"SpreadSavedActivations",
       [](ModelConfig& c) {
         recompute_all(c);
         c.distribute_saved_activations = true;
       }},
      {"RecomputedMlp",
       [](ModelConfig& c) {
         c.recompute_granularity = RecomputeGranularity::selective;
         c.recompute_modules = {config::RecomputeModule::mlp};
       }},
      {"RecomputedNorms",
       [](ModelConfig& c) {
         c.recompute_granularity = RecomputeGranularity::selective;
         c.recompute_modules = {config::RecomputeModule::layernorm};
       }},
      {"RecomputedNormsOfOverlappedProducts",
       [](ModelConfig& c) {
         use_llama(c);
         c.tp_comm_overlap = true;
         c.recompute_granularity = RecomputeGranularity::selective;
         c.recompute_modules = {config::RecomputeModule::layernorm};
       }},
      {"OverlappedProducts", [](ModelConfig& c) { c.tp_comm_overlap = true; }},
      {"OverlappedProductsOfALlama",
       [](ModelConfig& c) {
         use_llama(c);
         c.tp_comm_overlap = true;
       }},
      {"NormsBehindBranches", use_gemma},
      {"ChunksAndScaledQueries", use_llama4},
      {"RecomputedNormsAroundBranches",
       [](ModelConfig& c) {
         use_gemma(c);
         c.add_bias_linear = c.add_qkv_bias = true;
         c.recompute_granularity = RecomputeGranularity::selective;
         c.recompute_modules = {config::RecomputeModule::layernorm, config::RecomputeModule::mlp};
       }},
      {"LatentAttention", use_latent_attention},
      {"LatentAttentionOfWholeQueries",
       [](ModelConfig& c) {
         use_latent_attention(c);
         c.q_lora_rank = {};
       }},
      {"RecomputedUpProjections",
       [](ModelConfig& c) {
         use_latent_attention(c);
         c.recompute_granularity = RecomputeGranularity::selective;
         c.recompute_modules = {config::RecomputeModule::mla_up_proj,
                                config::RecomputeModule::layernorm};
       }},
      {"Predictions",
       [](ModelConfig& c) {
         use_llama(c);
         c.mtp_num_layers = 2;
       }},
      {"PredictionsOfATiedModel",
       [](ModelConfig& c) {
         use_llama(c);
         c.untie_embeddings_and_output_weights = false;
         c.mtp_num_layers = 1;
         recompute_all(c);
       }},
      {"TorchsNumbers", [](ModelConfig& c) { c.use_cpu_initialization = true; }},
      {"UniformNumbers", [](ModelConfig& c) { c.init_method_xavier_uniform = true; }},
  };
  return all;
}

const TensorLayout kLayouts[] = {{2, false}, {2, true}, {4, false}, {4, true}};

class InLayouts : public ::testing::TestWithParam<Variant> {};

TEST_P(InLayouts, AStepIsThatOfOneRank) {
  ModelConfig config = base();
  GetParam().change(config);
  const WholeStep alone = run(config, {});
  for (const TensorLayout& layout : kLayouts) {
    SCOPED_TRACE(::testing::Message() << layout.tensor << " ranks"
                                      << (layout.sequence_parallel ? ", sequence cut" : ""));
    expect_same(run(config, layout), alone, 1e-12);
  }
}

INSTANTIATE_TEST_SUITE_P(Layout, InLayouts, ::testing::ValuesIn(variants()),
                         [](const auto& info) { return info.param.name; });

/// Two groups of two ranks, each with samples of its own: nothing passes from group to group, also
/// when every rank keeps a piece of what recomputation starts from.
TEST(Layout, GroupsOfTheWorldDoNotMix) {
  ModelConfig config = base();
  recompute_all(config);
  config.distribute_saved_activations = true;
  const auto samples_of = [](Index group) {
    return [group](device::Device& device, Index microbatch) {
      return test::tiny_batch(device, kSequence, 10 * group + 2 * microbatch, 2);
    };
  };
  std::vector<test::RankStep> ranks(4);
  comm::run_thread_world(4, [&](comm::World& world) {
    ranks[static_cast<std::size_t>(world.rank())] = test::run_rank(
        config, test::tensor_groups(world, {2, false}), samples_of(world.rank() / 2));
  });
  for (const Index group : {0, 1}) {
    const auto first = ranks.begin() + 2 * group;
    expect_same(test::put_together({first, first + 2}),
                test::run_layout(config, {}, samples_of(group)), 1e-12);
  }
}

/// Inference and replay see the whole vocabulary on every rank.
TEST(Layout, LogitsAreThoseOfOneRank) {
  const ModelConfig config = base();
  const auto logits = [&](const comm::ParallelGroups& groups) {
    const auto device = device::make_device("reference");
    GptModel model(config, *device, {.groups = groups, .part = nn::whole_model(config)});
    model.initialize();
    autograd::Context context{.device = *device, .mode = autograd::Mode::evaluate};
    return test::values_of(model.logits(context, batch(*device, 0)).value);
  };
  const std::vector<double> alone = logits(comm::groups_of_one(*comm::make_single_world()));
  for (const TensorLayout& layout : kLayouts) {
    comm::run_thread_world(layout.tensor, [&](comm::World& world) {
      EXPECT_LE(difference(logits(test::tensor_groups(world, layout)), alone), 1e-12);
    });
  }
}

/// Four ranks hold a quarter of every matrix each; norms and output biases are on all.
TEST(Layout, MatricesAreCutAndNormsAreNot) {
  comm::run_thread_world(4, [](comm::World& world) {
    const auto device = device::make_device("reference");
    const ModelConfig config = base();
    GptModel model(
        config, *device,
        {.groups = test::tensor_groups(world, {4, true}), .part = nn::whole_model(config)});
    model.initialize();
    for (const autograd::Parameter& parameter : model.parameters()) {
      const bool positions = parameter.name == "embedding.position_embeddings.weight";
      const bool cut = (parameter.shape.rank() == 2 && !positions) ||
                       parameter.name.find("linear_qkv.bias") != std::string::npos ||
                       parameter.name.find("linear_fc1.bias") != std::string::npos;
      EXPECT_EQ(parameter.value.numel() * (cut ? 4 : 1), parameter.shape.numel()) << parameter.name;
      EXPECT_EQ(parameter.placement.sum_over_tensor, !cut) << parameter.name;
    }
  });
}

TEST(Layout, Fp32DiffersByRoundingOnly) {
  ModelConfig config = base();
  config.params_dtype = DType::f32;
  const WholeStep alone = run(config, {});
  for (const TensorLayout& layout : kLayouts) {
    expect_same(run(config, layout), alone, 1e-6);
  }
}

TEST(Layout, Bf16DiffersByRoundingOnly) {
  ModelConfig config = base();
  for (const bool fp32_residual : {false, true}) {
    config.params_dtype = DType::bf16;
    config.fp32_residual_connection = fp32_residual;
    const WholeStep alone = run(config, {});
    for (const TensorLayout& layout : kLayouts) {
      expect_same(run(config, layout), alone, 2e-2);
    }
  }
}

}  // namespace layout_test
}  // namespace mpitron::models

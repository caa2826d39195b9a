#include "config/parse/stored_model.h"

#include <gtest/gtest.h>

#include "config/layer_pattern.h"
#include "config/parse/parse.h"
#include "config/parse/report.h"
#include "support/corpus.h"
#include "support/foreign_files.h"
#include "utils/error.h"

namespace mpitron::config {
namespace stored_model_test {

constexpr const char* kSmallest =
    R"({"num_layers": 4, "hidden_size": 8, "num_attention_heads": 4, "max_position_embeddings": 16)";

ModelConfig read(const std::string& more) {
  return read_stored_model(std::string(kSmallest) + more + "}", "x").model;
}

/// The configuration in a checkpoint of a run with these flags.
std::string configuration(const std::vector<std::string>& more) {
  std::vector<std::string> flags = {"--hidden-size",
                                    "32",
                                    "--num-attention-heads",
                                    "4",
                                    "--seq-length",
                                    "16",
                                    "--max-position-embeddings",
                                    "16",
                                    "--micro-batch-size",
                                    "1",
                                    "--train-iters",
                                    "1",
                                    "--lr",
                                    "1e-3",
                                    "--mock-data",
                                    "--tokenizer-type",
                                    "NullTokenizer",
                                    "--vocab-size",
                                    "63"};
  flags.insert(flags.end(), more.begin(), more.end());
  return values_json(parse_valid_run(flags).values, false);
}

StoredModel stored(const std::vector<std::string>& flags) {
  return read_stored_model(configuration(flags), "x");
}

TEST(StoredModel, HasWhatARunWasGiven) {
  const StoredModel hybrid =
      stored({"--model", "mamba", "--hybrid-layer-pattern", "M*|G-/M*/M*", "--mamba-head-dim", "8",
              "--mamba-num-groups", "2", "--position-embedding-type", "rope", "--swiglu",
              "--linear-num-key-heads", "2", "--linear-num-value-heads", "4"});
  EXPECT_EQ(hybrid.model.hybrid.pattern, "M*G-");
  EXPECT_EQ(hybrid.model.hybrid.depth_pattern, "M*");
  EXPECT_EQ(hybrid.model.mtp_num_layers, 2);
  EXPECT_EQ(hybrid.model.hybrid.mamba.heads, 8);
  EXPECT_EQ(hybrid.model.hybrid.delta_net.value_heads, 4);
  EXPECT_EQ(hybrid.model.position_embedding_type, PositionEmbedding::rope);
  EXPECT_EQ(hybrid.vocab_size, 64) << "the tokenizer adds one";
  const ModelConfig windows =
      stored({"--num-layers", "4", "--window-size", "7,0", "--window-attn-skip-freq", "2",
              "--softmax-type", "learnable", "--quick-geglu", "--disable-bias-linear",
              "--activation-func-clamp-value", "7", "--use-mup", "--mup-base-hidden-size", "16"})
          .model;
  EXPECT_EQ(windows.window_size, (std::array<Index, 2>{7, 0}));
  EXPECT_TRUE(layer_spec(windows, 1).window && !layer_spec(windows, 2).window);
  EXPECT_EQ(windows.attention_sink, AttentionSink::learned);
  EXPECT_EQ(windows.activation, ActivationKind::quick_gelu);
  EXPECT_EQ(windows.activation_clamp, 7);
  EXPECT_EQ(windows.mup->width, 2);
}

TEST(StoredModel, LeavesOutWhatOnlyTrainingDoes) {
  const ModelConfig model = stored({"--num-layers", "4", "--num-experts", "4",
                                    "--disable-bias-linear", "--moe-aux-loss-coeff", "0.01",
                                    "--recompute-granularity", "selective", "--bf16", "--qk-clip"})
                                .model;
  EXPECT_TRUE(model.moe && model.moe->balancing_losses.empty());
  EXPECT_EQ(model.recompute_granularity, RecomputeGranularity::none);
  EXPECT_FALSE(model.qk_clip);
  EXPECT_FALSE(stored({"--num-layers", "4", "--reset-attention-mask"}).model.reset_attention_mask);
  EXPECT_EQ(model.params_dtype, DType::bf16);
}

TEST(StoredModel, ReadsListsAsTheReferenceStoresThem) {
  const StoredModel stored =
      read_stored_model(std::string(kSmallest) + R"(, "window_size": [3, 0], "num_experts": 2,
      "moe_router_load_balancing_type": ["sinkhorn"], "moe_layer_freq": [0, 1, 1, 0],
      "rotary_base": 5000.0, "encoder_num_layers": 4, "no_such_option": {"a": 1}})",
                        "x");
  const ModelConfig& model = stored.model;
  EXPECT_NE(stored.options.find(R"("window_size":"3,0")"), std::string::npos) << stored.options;
  EXPECT_NE(stored.options.find(R"("moe_layer_freq":"[0,1,1,0]")"), std::string::npos);
  EXPECT_EQ(model.window_size, (std::array<Index, 2>{3, 0}));
  EXPECT_EQ(model.moe->layers, (std::vector<bool>{false, true, true, false}));
  EXPECT_TRUE(model.moe->sinkhorn);
  EXPECT_EQ(model.rotary_base, 5000);
}

TEST(StoredModel, NamesEveryRuleThatAFileBreaks) {
  const std::pair<const char*, const char*> wrong[] = {
      {R"(, "num_query_groups": 3, "group_query_attention": true)", "heads_per_group"},
      {R"(, "position_embedding_type": "rope", "rotary_percent": 2.0)", "rotary_dimensions"},
      {R"(, "rope_scaling_factor": 0.0)", "rotary_factors"},
      {R"(, "no_rope_freq": "[1,0]")", "layers_without_rotation"},
      {R"(, "norm_epsilon": 0.0)", "small_constants"},
      {R"(, "multi_latent_attention": true, "kv_lora_rank": 0)", "latent_sizes"},
      {R"(, "mtp_num_layers": -1)", "prediction_depths"},
      {R"(, "num_experts": 0)", "expert_sizes"},
      {R"(, "num_experts": 2, "moe_layer_freq": "[1]")", "expert_layers"},
      {R"(, "num_experts": 2, "moe_router_topk": 3)", "router_topk"},
      {R"(, "num_experts": 4, "moe_router_num_groups": 3)", "router_groups"},
      {R"(, "window_size": "7")", "window_pair"},
      {R"(, "window_attn_skip_freq": "[1,0]", "window_size": "7,0")", "window_layers"},
      {R"(, "activation_func_clamp_value": 7.0)", "gate_limits"},
      {R"(, "num_experts": 2, "moe_shared_expert_gate": true)", "shared_expert_gate"},
      {R"(, "use_mup": true, "mup_base_hidden_size": 0)", "mup_sizes"},
      {R"(, "model": "mamba", "hybrid_layer_pattern": "MX-M")", "pattern_letters"},
      {R"(, "model": "mamba", "hybrid_layer_pattern": "MMMM", "mamba_num_heads": 3)",
       "mamba_heads"},
      {R"(, "model": "mamba", "hybrid_layer_pattern": "GGGG", "linear_num_key_heads": 3)",
       "delta_heads"},
      {R"(, "model": "mamba", "hybrid_layer_pattern": "*EE-")", "letters_of_experts"},
      {R"(, "model": "mamba", "hybrid_layer_pattern": "*+--")", "one_attention"},
      {R"(, "model": "mamba", "hybrid_layer_pattern": "*---/-/*")", "pattern_depths"},
      {R"(, "swiglu": 1)", "word_count"},
      {R"(, "normalization": "BatchNorm")", "bad_value"},
      {R"(, "hidden_dropout": "much")", "bad_value"},
      {R"(, "num_layers": 1000000000000)", "allowed are"},
      {R"(, "apply_residual_connection_post_layernorm": true)", "not_there_yet"},
      {R"(, "position_embedding_type": "mrope")", "axes_of_rotation"}};
  for (const auto& [more, name] : wrong) {
    const std::string text = test::message_of([&, text = more] { read(text); });
    EXPECT_NE(text.find(name), std::string::npos) << more << text;
  }
  EXPECT_THROW(read_stored_model("[1", "x"), Error);
}

TEST(StoredModel, SurvivesDamage) {
  const std::string good =
      configuration({"--model", "mamba", "--hybrid-layer-pattern", "M*E", "--mamba-head-dim", "8",
                     "--mamba-num-groups", "2", "--num-experts", "4", "--disable-bias-linear",
                     "--window-size", "7,0", "--window-attn-skip-freq", "2"});
  std::mt19937 random(5);
  int refused = 0;
  for (int i = 0; i < 300; ++i) {
    const std::string text = test::mutated(good, random);
    refused += test::accepts([&] { read_stored_model(text, "x"); }) ? 0 : 1;
  }
  EXPECT_GT(refused, 100);
}

}  // namespace stored_model_test
}  // namespace mpitron::config

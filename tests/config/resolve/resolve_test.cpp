#include "config/resolve/resolve.h"

#include <cmath>
#include <filesystem>
#include <fstream>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "config/flags.h"
#include "config/values/option_table.h"
#include "support/golden_folder.h"

namespace mpitron::config {
namespace resolve_test {

using Json = nlohmann::json;
using test::parse_base;

TEST(Resolve, TypesOfParametersAndGradients) {
  EXPECT_EQ(parse_base("").run.optimizer.main_grad_dtype, DType::f32);
  EXPECT_EQ(parse_base("--bf16").run.model.params_dtype, DType::bf16);
  EXPECT_EQ(parse_base("--bf16").run.optimizer.main_grad_dtype, DType::f32);
  EXPECT_EQ(parse_base("--fp16").run.optimizer.main_grad_dtype, DType::f16);
  EXPECT_EQ(parse_base("--fp16 --accumulate-allreduce-grads-in-fp32").run.optimizer.main_grad_dtype,
            DType::f32);
}

/// Also choices that are refused.
TEST(Resolve, EveryChoiceOfEveryOptionStandsForSomething) {
  for (std::size_t slot = 0; slot < option_index().size(); ++slot) {
    const Option& option = option_index().option(slot);
    for (const std::string& word : split_words(option.choices)) {
      EXPECT_NO_THROW(parse_base("--" + std::string(option.name) + " " + word))
          << option.name << " " << word;
    }
  }
  const std::string text = to_text(parse_base("--muon-fp32-matmul-prec low").findings);
  EXPECT_NE(text.find("muon-fp32-matmul-prec low"), std::string::npos) << text;
}

/// The flags of a recorded run resolve to the dimensions and the configuration recorded beside
/// them.
void expect_equals_record(const Json& record, const RunConfig& run) {
  const Json& dims = record.at("dims");
  EXPECT_EQ(run.model.num_layers, dims.at("layers"));
  EXPECT_EQ(run.model.hidden_size, dims.at("hidden"));
  EXPECT_EQ(run.model.num_attention_heads, dims.at("heads"));
  EXPECT_EQ(run.model.seq_length, dims.at("seq"));
  EXPECT_EQ(run.training.global_batch_size, dims.at("gbs"));
  EXPECT_EQ(run.training.micro_batch_size, dims.at("mbs"));
  EXPECT_EQ(run.training.train_samples.value(),
            dims.at("iters").get<Index>() * dims.at("gbs").get<Index>());
  EXPECT_DOUBLE_EQ(run.optimizer.lr, dims.at("lr"));
  EXPECT_DOUBLE_EQ(run.optimizer.min_lr, dims.at("min_lr"));
  EXPECT_DOUBLE_EQ(run.optimizer.lr_warmup_steps,
                   dims.at("warmup").get<double>() * dims.at("gbs").get<double>());
  EXPECT_DOUBLE_EQ(run.optimizer.clip_grad, dims.at("clip"));
  EXPECT_EQ(
      pad_vocab_size(run.data.vocab_size.value() + 1, run.data.make_vocab_size_divisible_by, 1),
      dims.at("vocab"));
  EXPECT_EQ(run.optimizer.optimizer == OptimizerKind::sgd, dims.at("optimizer") == "sgd");
  const Json& t = record.at("transformer_config");
  const ModelConfig& m = run.model;
  EXPECT_EQ(m.num_query_groups, t.value("num_query_groups", m.num_attention_heads));
  EXPECT_EQ(m.kv_channels, t.value("kv_channels", m.hidden_size / m.num_attention_heads));
  EXPECT_EQ(m.ffn_hidden_size, t.value("ffn_hidden_size", 4 * m.hidden_size));
  EXPECT_EQ(m.params_dtype, t.value("bf16", false)   ? DType::bf16
                            : t.value("fp16", false) ? DType::f16
                                                     : DType::f32);
  EXPECT_EQ(m.normalization == Normalization::rms_norm,
            t.value("normalization", "LayerNorm") == "RMSNorm");
  EXPECT_EQ(m.gated_linear_unit, t.value("gated_linear_unit", false));
  EXPECT_EQ(m.activation == ActivationKind::silu, t.value("activation_func", "") == "silu");
  EXPECT_EQ(m.activation == ActivationKind::squared_relu,
            t.value("activation_func", "") == "<lambda>");
  if (m.activation == ActivationKind::gelu_tanh || m.activation == ActivationKind::gelu_erf) {
    EXPECT_EQ(m.activation == ActivationKind::gelu_tanh, t.value("bias_activation_fusion", false));
  }
  EXPECT_EQ(m.add_bias_linear, t.value("add_bias_linear", true));
  EXPECT_EQ(m.add_qkv_bias, m.add_bias_linear || t.value("add_qkv_bias", false));
  EXPECT_EQ(m.apply_query_key_layer_scaling, t.value("apply_query_key_layer_scaling", false));
  EXPECT_EQ(m.rotary_interleaved, t.value("rotary_interleaved", false));
  EXPECT_EQ(m.qk_layernorm, t.value("qk_layernorm", false));
  EXPECT_EQ(m.gradient_accumulation_fusion, t.value("gradient_accumulation_fusion", false));
  EXPECT_EQ(run.training.calculate_per_token_loss, t.value("calculate_per_token_loss", false));
  EXPECT_EQ(m.no_rope_layers.empty(), !t.contains("no_rope_freq"));
  const Json& model = record.at("model");
  EXPECT_EQ(m.untie_embeddings_and_output_weights,
            !model.at("share_embeddings_and_output_weights").get<bool>());
  EXPECT_EQ(m.rotary_base, model.value("rotary_base", 10000));
  EXPECT_EQ(m.position_embedding_type == PositionEmbedding::rope,
            model.at("position_embedding_type") == "rope");
  EXPECT_EQ(m.position_embedding_type == PositionEmbedding::none,
            model.at("position_embedding_type") == "none");
  const Json& recorded = record.at("run");
  EXPECT_EQ(m.qk_l2_norm, recorded.value("qk_l2_norm", false));
  EXPECT_EQ(run.optimizer.loss_scale.value_or(0), recorded.value("loss_scale", 0.0));
  EXPECT_EQ(run.training.rampup_batch_size.has_value(), recorded.contains("rampup"));
  EXPECT_EQ(run.optimizer.lr_wsd_decay_steps, recorded.value("wsd_decay", 0));
}

bool is_dense_gpt(const Json& record) {
  const Json& t = record.at("transformer_config");
  return record.at("model_type") == "gpt" && !record.at("mla").get<bool>() &&
         !t.contains("num_moe_experts") && !t.contains("mtp_num_layers");
}

/// Of latent attention and multi-token prediction.
void expect_equal_latents(const Json& recorded, const ModelConfig& m) {
  if (recorded.contains("kv_lora_rank")) {
    EXPECT_TRUE(m.multi_latent_attention);
    EXPECT_EQ(m.kv_lora_rank, recorded.at("kv_lora_rank"));
    EXPECT_EQ(m.q_lora_rank.has_value(), !recorded.at("q_lora_rank").is_null());
    EXPECT_EQ(m.qk_head_dim, recorded.at("qk_head_dim"));
    EXPECT_EQ(m.qk_pos_emb_head_dim, recorded.at("qk_pos_emb_head_dim"));
    EXPECT_EQ(m.v_head_dim, recorded.at("v_head_dim"));
    if (recorded.contains("rotary_scaling_factor")) {
      EXPECT_EQ(m.rotary_scaling_factor, recorded.at("rotary_scaling_factor"));
    }
  }
  EXPECT_EQ(m.mtp_num_layers.value_or(0), recorded.value("mtp_num_layers", 0));
}

TEST(Resolve, EveryRecordedRunOfTheReference) {
  const std::string folder = test::golden_folder() + "/curves";
  if (!std::filesystem::is_directory(folder)) {
    GTEST_SKIP() << "no recorded runs in " << folder;
  }
  int dense = 0;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    std::ifstream in(entry.path() / "config.json");
    if (!in) {
      continue;
    }
    SCOPED_TRACE(entry.path().filename().string());
    const Json record = Json::parse(in);
    auto flags = record.at("flags").get<std::vector<std::string>>();
    flags.insert(flags.end(), {"--model", record.at("model_type").get<std::string>()});
    const ParsedRun parsed = parse_run(flags);
    EXPECT_TRUE(parsed.findings.empty()) << test::all_findings(parsed);
    if (is_dense_gpt(record)) {
      ++dense;
      expect_equals_record(record, parsed.run);
    }
    expect_equal_latents(record.at("transformer_config"), parsed.run.model);
  }
  EXPECT_GT(dense, 0);
}

}  // namespace resolve_test
}  // namespace mpitron::config

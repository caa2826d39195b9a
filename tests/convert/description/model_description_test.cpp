#include "convert/description/model_description.h"

#include <gtest/gtest.h>

#include "config/parse/parse.h"
#include "convert/names/hugging_face_config.h"
#include "convert/tiny_models.h"
#include "support/temporary_folder.h"

namespace mpitron::convert {
namespace model_description_test {

constexpr const char* kSmallest =
    R"({"num_layers": 2, "hidden_size": 8, "num_attention_heads": 4, "max_position_embeddings": 16)";

ModelDescription parse(const std::string& more) {
  return from_configuration(std::string(kSmallest) + more + "}", "x");
}

TEST(ModelDescription, DerivesWhatTrainingDerives) {
  const config::ModelConfig gpt = parse("").model;
  EXPECT_EQ(gpt.ffn_hidden_size, 32);
  EXPECT_EQ(gpt.kv_channels, 2);
  EXPECT_EQ(gpt.num_query_groups, 4);
  EXPECT_EQ(gpt.activation, config::ActivationKind::gelu_tanh);
  EXPECT_TRUE(gpt.add_qkv_bias);
  EXPECT_EQ(parse(R"(, "bias_gelu_fusion": false)").model.activation,
            config::ActivationKind::gelu_erf);
  EXPECT_EQ(parse(R"(, "swiglu": true, "ffn_hidden_size": 16)").model.activation,
            config::ActivationKind::silu);
  EXPECT_EQ(parse(R"(, "bf16": true)").model.params_dtype, DType::bf16);
  // Without --group-query-attention the number of groups has no meaning.
  EXPECT_EQ(parse(R"(, "num_query_groups": 1)").model.num_query_groups, 4);
}

TEST(ModelDescription, NullTokenizerHasOneTokenMore) {
  EXPECT_EQ(parse("").vocab_size, 0);
  EXPECT_EQ(parse(R"(, "vocab_size": 60)").vocab_size, 60);
  EXPECT_EQ(parse(R"(, "vocab_size": 60, "tokenizer_type": "NullTokenizer")").vocab_size, 61);
}

TEST(ModelDescription, RefusesWhatCannotBeASize) {
  for (const char* wrong :
       {R"(, "num_layers": 0)", R"(, "hidden_size": -8)", R"(, "num_layers": "two")",
        R"(, "num_layers": 2.5)", R"(, "hidden_size": 1e300)", R"(, "swiglu": 1)",
        R"(, "normalization": "BatchNorm")", R"(, "num_experts": 2, "moe_layer_freq": "[1,")",
        R"(, "num_experts": -1)", R"(, "kv_lora_rank": 0, "multi_latent_attention": true)",
        R"(, "group_query_attention": true, "num_query_groups": 3)"}) {
    EXPECT_THROW(parse(wrong), Error) << wrong;
  }
  EXPECT_THROW(from_configuration("[1", "x"), Error);
  EXPECT_THROW(from_configuration("{}", "x"), Error);
}

TEST(ModelDescription, HandsOnWhatNoOtherFormatHas) {
  ModelDescription windows =
      parse(R"(, "window_size": "7,0", "softmax_type": "learnable", "vocab_size": 60,
               "tokenizer_type": "NullTokenizer", "lr": 0.1)");
  windows.model.params_dtype = DType::bf16;
  const ModelDescription again = from_configuration(to_configuration(windows), "y");
  EXPECT_EQ(again.model.window_size, (std::array<Index, 2>{7, 0}));
  EXPECT_EQ(again.model.attention_sink, config::AttentionSink::learned);
  EXPECT_EQ(again.model.params_dtype, DType::bf16);
  EXPECT_EQ(again.vocab_size, 61);
  EXPECT_EQ(again.options.find("lr"), std::string::npos);
}

/// The same of a model of images, which no option of words describes.
TEST(ModelDescription, OfImagesIsAConfigurationFile) {
  const ModelDescription before =
      read_hugging_face_config(test::reference_model("vit").config, "vit", 8);
  const std::string json = to_configuration(before);
  const ModelDescription after = from_configuration(json, "vit");
  EXPECT_EQ(to_configuration(after), json);
  EXPECT_EQ(after.model.kind, config::ModelKind::vit);
  EXPECT_EQ(after.model.max_position_embeddings, 10);
  const test::TemporaryFolder folder;
  test::write_text(folder.path() / "run.yaml", json);
  const config::ParsedRun run =
      config::parse_run({"--yaml-cfg", (folder.path() / "run.yaml").string(), "--micro-batch-size",
                         "1", "--train-iters", "1", "--lr", "0.1", "--data-path", "x"});
  EXPECT_TRUE(run.findings.empty()) << config::to_text(run.findings);
  EXPECT_EQ(run.run.model.vision.classes, 5);
  EXPECT_TRUE(run.run.model.vision.linear_head);
  EXPECT_EQ(run.run.model.vision.class_tokens, 1);
  EXPECT_EQ(run.run.model.seq_length, 10);
  EXPECT_EQ(run.run.model.norm_epsilon, 1e-12);
  EXPECT_EQ(run.run.model.activation, config::ActivationKind::gelu_erf);
  std::string other = json;
  other.insert(other.find('{') + 1, R"("vision_pretraining_type": "inpaint", )");
  EXPECT_THROW(from_configuration(other, "vit"), Error);
}

/// What is written is what `--yaml-cfg` takes, and means the same model.
TEST(ModelDescription, IsAConfigurationFile) {
  for (const std::string& family : test::families()) {
    const ModelDescription before =
        read_hugging_face_config(test::reference_model(family).config, family, 8);
    const std::string json = to_configuration(before);
    const ModelDescription after = from_configuration(json, family);
    EXPECT_EQ(to_configuration(after), json);
    EXPECT_EQ(after.vocab_size, 61);
    const test::TemporaryFolder folder;
    test::write_text(folder.path() / "run.yaml", json);
    std::vector<std::string> words{"--yaml-cfg",
                                   (folder.path() / "run.yaml").string(),
                                   "--seq-length",
                                   "8",
                                   "--micro-batch-size",
                                   "1",
                                   "--train-iters",
                                   "1",
                                   "--lr",
                                   "0.1",
                                   before.model.vlm ? "--data-path=x" : "--mock-data",
                                   "--tokenizer-type",
                                   "NullTokenizer"};
    if (before.model.kind == config::ModelKind::t5) {
      words.insert(words.end(), {"--decoder-seq-length", "8"});
    }
    const config::ParsedRun run = config::parse_run(words);
    EXPECT_EQ(config::to_text(run.findings).find("E0"), std::string::npos)
        << config::to_text(run.findings);
    const config::ModelConfig &a = run.run.model, &b = before.model;
    EXPECT_EQ(a.kind, b.kind) << family;
    EXPECT_EQ(a.activation, b.activation) << family;
    EXPECT_EQ(a.gated_linear_unit, b.gated_linear_unit);
    EXPECT_EQ(a.num_query_groups, b.num_query_groups);
    EXPECT_EQ(a.kv_channels, b.kv_channels);
    EXPECT_EQ(a.add_bias_linear, b.add_bias_linear);
    EXPECT_EQ(a.add_qkv_bias, b.add_qkv_bias);
    EXPECT_EQ(a.normalization, b.normalization);
    EXPECT_EQ(a.norm_epsilon, b.norm_epsilon);
    EXPECT_EQ(a.rotary_base, b.rotary_base);
    EXPECT_EQ(a.use_rope_scaling, b.use_rope_scaling);
    EXPECT_EQ(a.position_embedding_type, b.position_embedding_type);
    EXPECT_EQ(a.padded_vocab_size, 64);
    EXPECT_EQ(a.untie_embeddings_and_output_weights, b.untie_embeddings_and_output_weights);
    EXPECT_EQ(a.qk_layernorm, b.qk_layernorm);
    EXPECT_EQ(a.rope_type, b.rope_type);
    EXPECT_EQ(a.mscale_all_dim, b.mscale_all_dim);
    EXPECT_EQ(a.q_lora_rank, b.q_lora_rank);
    EXPECT_EQ(a.v_head_dim, b.v_head_dim);
    EXPECT_EQ(a.relative_attention_num_buckets, b.relative_attention_num_buckets);
    ASSERT_EQ(a.moe.has_value(), b.moe.has_value()) << family;
    if (a.moe) {
      EXPECT_EQ(a.moe->layers, b.moe->layers);
      EXPECT_EQ(a.moe->num_experts, b.moe->num_experts);
      EXPECT_EQ(a.moe->topk, b.moe->topk);
      EXPECT_EQ(a.moe->ffn_hidden_size, b.moe->ffn_hidden_size);
      EXPECT_EQ(a.moe->shared_expert_intermediate_size, b.moe->shared_expert_intermediate_size);
      EXPECT_EQ(a.moe->pre_softmax, b.moe->pre_softmax);
      EXPECT_EQ(a.moe->topk_scaling_factor, b.moe->topk_scaling_factor);
    }
  }
}

}  // namespace model_description_test
}  // namespace mpitron::convert

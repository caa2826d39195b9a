#include <gtest/gtest.h>

#include "convert/config_changes.h"
#include "convert/description/config_reading.h"

namespace mpitron::convert {
namespace encoder_config_test {

using test::model_of;
using test::refusal;
using test::with;

TEST(EncoderConfig, ReadsMegatronBert) {
  const config::ModelConfig model = model_of(with("megatron-bert", {}));
  EXPECT_EQ(model.kind, config::ModelKind::bert);
  EXPECT_EQ(model.activation, config::ActivationKind::gelu_erf);
  EXPECT_TRUE(model.bert_binary_head && model.add_bias_linear);
  EXPECT_FALSE(model.untie_embeddings_and_output_weights);
  EXPECT_EQ(model.norm_epsilon, 1e-5);
}

TEST(EncoderConfig, ReadsT5) {
  const config::ModelConfig model = model_of(with("t5", {{"n_positions", nullptr}}));
  EXPECT_EQ(model.kind, config::ModelKind::t5);
  EXPECT_EQ(model.kv_channels, 4);
  EXPECT_EQ(model.max_position_embeddings, 512);
  EXPECT_EQ(model.relative_attention_num_buckets, 8);
  EXPECT_EQ(model.relative_attention_max_distance, 6);
  EXPECT_FALSE(model.add_bias_linear || model.add_qkv_bias);
  EXPECT_TRUE(model.untie_embeddings_and_output_weights);
}

TEST(EncoderConfig, SaysWhatDiffers) {
  const std::tuple<const char*, test::Json, const char*> wrong[] = {
      {"megatron-bert", {{"model_type", "bert"}}, "that layout is megatron-bert"},
      {"megatron-bert", {{"hidden_act", "gelu_new"}}, "exact GELU"},
      {"megatron-bert", {{"hidden_act", "relu"}}, "relu"},
      {"megatron-bert", {{"position_embedding_type", "relative_key"}}, "relative_key"},
      {"megatron-bert", {{"type_vocab_size", 3}}, "type_vocab_size"},
      {"megatron-bert", {{"tie_word_embeddings", false}}, "tie_word_embeddings"},
      {"t5", {{"feed_forward_proj", "relu"}}, "no ReLU"},
      {"t5", {{"feed_forward_proj", "gated-gelu"}}, "gated-gelu"},
      {"t5", {{"tie_word_embeddings", true}}, "1/sqrt(d_model)"},
      {"t5", {{"num_decoder_layers", 3}}, "num_decoder_layers"},
      {"t5", {{"d_kv", 8}}, "power of 4"},
  };
  for (const auto& [family, change, part] : wrong) {
    EXPECT_NE(refusal(with(family, change)).find(part), std::string::npos)
        << change.dump() << ": " << refusal(with(family, change));
  }
}

}  // namespace encoder_config_test
}  // namespace mpitron::convert

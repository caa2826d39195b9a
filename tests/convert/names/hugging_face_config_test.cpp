#include "convert/names/hugging_face_config.h"

#include <random>

#include <gtest/gtest.h>

#include "convert/config_changes.h"

namespace mpitron::convert {
namespace hugging_face_config_test {

using test::Json;
using test::model_of;
using test::refusal;
using test::with;

TEST(HuggingFaceConfig, ReadsTheFamilies) {
  const config::ModelConfig llama = model_of(with("llama", {}));
  EXPECT_EQ(llama.kv_channels, 8);
  EXPECT_EQ(llama.num_query_groups, 2);
  EXPECT_TRUE(llama.group_query_attention && llama.use_rope_scaling && llama.gated_linear_unit);
  EXPECT_FALSE(llama.add_bias_linear || llama.add_qkv_bias);
  EXPECT_EQ(llama.rope_scaling_factor, 8);
  EXPECT_EQ(llama.rotary_base, 500000);
  EXPECT_EQ(llama.padded_vocab_size, 64);
  const config::ModelConfig qwen = model_of(with("qwen2", {}));
  EXPECT_TRUE(qwen.add_qkv_bias);
  EXPECT_FALSE(qwen.untie_embeddings_and_output_weights || qwen.add_bias_linear);
  const config::ModelConfig gpt2 = model_of(with("gpt2", {{"n_inner", nullptr}}));
  EXPECT_EQ(gpt2.ffn_hidden_size, 96);
  EXPECT_FALSE(gpt2.untie_embeddings_and_output_weights);
  EXPECT_EQ(gpt2.activation, config::ActivationKind::gelu_tanh);
}

TEST(HuggingFaceConfig, ReadsTheNewerFormOfRotation) {
  const config::ModelConfig model = model_of(with(
      "mistral",
      {{"rope_parameters", {{"rope_theta", 1000.0}, {"rope_type", "linear"}, {"factor", 4.0}}}}));
  EXPECT_EQ(model.rotary_base, 1000);
  EXPECT_EQ(model.rotary_seq_len_interpolation_factor, 4);
}

/// Longer sequences than the window would be computed in another way.
TEST(HuggingFaceConfig, WindowBoundsThePositions) {
  EXPECT_EQ(model_of(with("mistral", {{"sliding_window", 8}})).max_position_embeddings, 8);
  EXPECT_EQ(model_of(with("mistral", {{"sliding_window", nullptr}})).max_position_embeddings, 16);
  EXPECT_EQ(model_of(with("qwen2", {})).max_position_embeddings, 16);
  EXPECT_EQ(model_of(with("qwen2", {{"use_sliding_window", true}})).max_position_embeddings, 8);
}

TEST(HuggingFaceConfig, RefusesWhatWouldChangeTheModel) {
  const std::pair<const char*, Json> wrong[] = {
      {"llama", {{"hidden_act", "gelu"}}},
      {"llama", {{"rope_theta", 1000.5}}},
      {"llama", {{"rope_scaling", {{"rope_type", "yarn"}, {"factor", 2.0}}}}},
      {"llama", {{"rope_scaling", {{"rope_type", "llama3"}, {"factor", 8.0}}}}},
      {"llama", {{"attention_bias", true}}},
      {"llama", {{"partial_rotary_factor", 0.5}}},
      {"llama", {{"quantization_config", {{"bits", 4}}}}},
      {"llama", {{"num_key_value_heads", 3}}},
      {"llama", {{"torch_dtype", "float8"}}},
      {"gpt2", {{"scale_attn_by_inverse_layer_idx", true}}},
      {"gpt2", {{"activation_function", "relu"}}},
      {"gpt2", {{"model_type", "bloom"}}},
      {"gpt2", {{"n_layer", 0}}},
      {"gpt2", {{"n_layer", 1e30}}},
      {"gpt2", {{"n_head", "four"}}},
      {"gpt2", {{"vocab_size", -1}}},
      {"gpt2", {{"tie_word_embeddings", "yes"}}},
  };
  for (const auto& [family, change] : wrong) {
    EXPECT_NE(refusal(with(family, change)), "") << change.dump();
  }
  // All of them at once, not one after the other.
  const std::string text = refusal(with("llama", {{"hidden_act", "gelu"}, {"rope_theta", 0.5}}));
  EXPECT_NE(text.find("a gated MLP"), std::string::npos) << text;
  EXPECT_NE(text.find("rope_theta"), std::string::npos) << text;
}

TEST(HuggingFaceConfig, ComesBackWithFieldsThatHaveNoMeaningHere) {
  for (const std::string& family : test::all_families()) {
    const Json before = with(family, {{"my_field", {1, 2}}});
    const ModelDescription description = read_hugging_face_config(before.dump(), "config.json", 8);
    const Json after = Json::parse(write_hugging_face_config(description, family));
    for (const auto& [key, value] : before.items()) {
      if (!key.starts_with("vision_")) {  // layers that are not looked at do not come back
        EXPECT_EQ(after.at(key), value) << family << " " << key;
      }
    }
    ModelDescription alone = description;  // as a model of our own training
    alone.files.clear();
    const ModelDescription again =
        read_hugging_face_config(write_hugging_face_config(alone, family), "config.json", 8);
    EXPECT_EQ(to_configuration(again), to_configuration(description)) << family;
  }
}

TEST(HuggingFaceConfig, SurvivesDamage) {
  std::mt19937 random(3);
  int refused = 0, read = 0;
  std::vector<std::string> goods;
  for (const std::string& family : test::all_families()) {
    goods.push_back(test::reference_model(family).config);
  }
  for (int i = 0; i < 2000; ++i) {
    const std::string text = test::mutated(goods[random() % goods.size()], random);
    ++(test::accepts([&] { read_hugging_face_config(text, "config.json", 8); }) ? read : refused);
  }
  EXPECT_GT(refused, 500);
  EXPECT_GT(read, 20);
}

}  // namespace hugging_face_config_test
}  // namespace mpitron::convert

#include <gtest/gtest.h>

#include "convert/config_changes.h"

namespace mpitron::convert {
namespace llava_config_test {

using test::model_of;
using test::with;

TEST(LlavaConfig, ReadsLlava) {
  const config::ModelConfig model = model_of(with("llava", {}));
  EXPECT_EQ(model.kind, config::ModelKind::vlm);
  EXPECT_EQ(model.num_query_groups, 2);
  const config::VlmConfig& vlm = *model.vlm;
  EXPECT_EQ(vlm.tower_layers, 2);  // of three the last one is not looked behind
  EXPECT_EQ(vlm.positions(), 4);   // without the class token
  EXPECT_EQ(vlm.tower_sizes->head_size, 8);
  EXPECT_EQ(vlm.tower_sizes->activation, config::ActivationKind::quick_gelu);
  EXPECT_EQ(vlm.projector_sizes->ffn_hidden_size, 24);
  EXPECT_EQ(model_of(with("llava", {{"vision_feature_select_strategy", "full"}})).vlm->positions(),
            5);
  EXPECT_EQ(model_of(with("llava", {{"vision_feature_layer", 1}})).vlm->tower_layers, 1);
}

/// As config.json of the published models leaves most of it out.
TEST(LlavaConfig, WhatIsNotSaidIsThatOfALlamaAndOfAClip) {
  const config::ModelConfig model =
      model_of(with("llava", {{"text_config", {{"model_type", "llama"}, {"vocab_size", 32064}}},
                              {"vision_config", {{"image_size", 64}}}}));
  EXPECT_EQ(model.hidden_size, 4096);
  EXPECT_EQ(model.num_layers, 32);
  EXPECT_EQ(model.padded_vocab_size, 32064);
  EXPECT_EQ(model.vlm->tower_layers, 11);
  EXPECT_EQ(model.vlm->tower_sizes->hidden_size, 768);
}

/// The language model has its own type in the file, and both are those of the weights.
TEST(LlavaConfig, AnotherTypeIsThatOfTheLanguageModelToo) {
  const std::string json = with("llava", {{"torch_dtype", "float32"}}).dump();
  ModelDescription description = read_hugging_face_config(json, "config.json", 8);
  for (const auto& [type, word] :
       {std::pair(description.model.params_dtype, "float32"), std::pair(DType::bf16, "bfloat16")}) {
    description.model.params_dtype = type;
    const auto after = test::Json::parse(write_hugging_face_config(description, "llava"));
    EXPECT_EQ(after.at("torch_dtype"), word);
    EXPECT_EQ(after.at("text_config").at("torch_dtype"), word);
  }
}

}  // namespace llava_config_test

}  // namespace mpitron::convert

#include <gtest/gtest.h>

#include "convert/config_changes.h"
#include "convert/names/name_table.h"

namespace mpitron::convert {
namespace llama4_images_config_test {

using test::Json;
using test::model_of;
using test::refusal;
using test::with;

TEST(Llama4ImagesConfig, ReadsTheEncoderAndItsAdapter) {
  const config::ModelConfig model = model_of(with("llama4", {}));
  EXPECT_EQ(model.kind, config::ModelKind::vlm);
  EXPECT_TRUE(model.moe && model.rotary_interleaved && model.attention_chunk_size);
  ASSERT_TRUE(model.vlm && model.vlm->tower_sizes && model.vlm->projector_sizes);
  const config::VlmConfig& vlm = *model.vlm;
  EXPECT_EQ(vlm.tower, config::TowerKind::llama4);
  EXPECT_EQ(vlm.projector, config::ProjectorKind::adapter);
  EXPECT_EQ(vlm.image_tags, config::ImageTags::llama4);
  EXPECT_EQ(vlm.positions(), 4);
  EXPECT_EQ(vlm.tower_layers, 4);
  EXPECT_EQ(vlm.tower_sizes->head_size, 8);
  EXPECT_EQ(vlm.tower_sizes->activation, config::ActivationKind::gelu_erf);
  EXPECT_EQ(vlm.projector_sizes->ffn_hidden_size, 20);
}

/// As a file says no more than what differs from the library's own sizes.
TEST(Llama4ImagesConfig, WhatIsNotSaidIsThatOfTheLibrary) {
  Json json = with("llama4", {});
  json["text_config"] = {{"model_type", "llama4_text"}, {"interleave_moe_layer_step", 2}};
  json["vision_config"] = {{"hidden_size", 1408}, {"image_size", 336}, {"vision_output_dim", 4096}};
  const config::ModelConfig model = model_of(json);
  EXPECT_EQ(model.num_layers, 48);
  EXPECT_EQ(model.kv_channels, 128);
  EXPECT_EQ(model.moe->num_experts, 16);
  EXPECT_EQ(model.attention_chunk_size, 8192);
  EXPECT_EQ(model.vlm->positions(), 144);
  EXPECT_EQ(model.vlm->tower_sizes->head_size, 88);
  EXPECT_EQ(model.vlm->tower_sizes->ffn_hidden_size, 5632);
}

/// What a checkpoint keeps of it is the whole of it.
TEST(Llama4ImagesConfig, ComesBackFromACheckpoint) {
  const ModelDescription read =
      read_hugging_face_config(with("llama4", {}).dump(), "config.json", 8);
  const config::ModelConfig model = from_configuration(to_configuration(read), "options").model;
  EXPECT_EQ(matching_model_type({.model = model}), "llama4");
  const Json alone =
      Json::parse(write_hugging_face_config({.model = model, .vocab_size = 61}, "llama4"));
  EXPECT_EQ(alone.at("text_config").at("model_type"), "llama4_text");
  EXPECT_EQ(alone.at("vision_config").at("model_type"), "llama4_vision_model");
  EXPECT_EQ(alone.at("vision_config").at("vision_output_dim"), 20);
  EXPECT_EQ(alone.at("vision_config").at("num_hidden_layers"), 4);
  EXPECT_EQ(alone.at("image_token_index"), 60);
}

TEST(Llama4ImagesConfig, GivesItsWordsAloneWhereTheyAreAskedFor) {
  const ModelDescription words =
      read_hugging_face_config(with("llama4", {}).dump(), "config.json", 8, "llama4_text");
  EXPECT_EQ(words.model_type, "llama4_text");
  EXPECT_FALSE(words.model.vlm);
  const NameTable table = make_name_table("llama4_text", words);
  EXPECT_FALSE(table.is_weight("vision_model.layernorm_pre.weight"));
  EXPECT_FALSE(table.is_weight("multi_modal_projector.linear_1.weight"));
  EXPECT_EQ(table.spelled("model.norm.weight")[1], "language_model.model.norm.weight");
}

TEST(Llama4ImagesConfig, RefusesWhatItCannotCompute) {
  for (const auto& [name, value] : std::map<std::string, Json>{{"pixel_shuffle_ratio", 0.25},
                                                               {"rope_theta", 500},
                                                               {"multi_modal_projector_bias", true},
                                                               {"projector_dropout", 0.1},
                                                               {"projector_output_dim", 24},
                                                               {"model_type", "clip_vision_model"},
                                                               {"image_size", 12},
                                                               {"intermediate_size", 32},
                                                               {"num_attention_heads", 8},
                                                               {"num_channels", 1}}) {
    Json json = with("llama4", {});
    json["vision_config"][name] = value;
    const std::string part = name == "image_size"            ? "an odd number"
                             : name == "num_attention_heads" ? "heads"
                                                             : name;
    EXPECT_NE(refusal(json).find("vision_config: "), std::string::npos) << name;
    EXPECT_NE(refusal(json).find(part), std::string::npos) << name << refusal(json);
  }
}

}  // namespace llama4_images_config_test
}  // namespace mpitron::convert

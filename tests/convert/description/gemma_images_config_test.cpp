#include <gtest/gtest.h>

#include "convert/config_changes.h"

namespace mpitron::convert {
namespace gemma_images_config_test {

using test::model_of;
using test::refusal;
using test::with;

TEST(GemmaImagesConfig, ReadsGemma3) {
  const config::ModelConfig model = model_of(with("gemma3", {}));
  EXPECT_EQ(model.kind, config::ModelKind::vlm);
  EXPECT_EQ(model.window_size->at(0), 2);
  EXPECT_TRUE(model.scale_embeddings && model.qk_layernorm);
  const config::VlmConfig& vlm = *model.vlm;
  EXPECT_EQ(vlm.tower, config::TowerKind::siglip);
  EXPECT_EQ(vlm.projector, config::ProjectorKind::pooled);
  EXPECT_EQ(vlm.positions(), 4);
  EXPECT_EQ(vlm.pooled_edge(), 2);
  EXPECT_TRUE(vlm.sees_whole_images);
  EXPECT_EQ(vlm.image_tags, config::ImageTags::gemma3);
}

/// As config.json of the published models leaves most of it out.
TEST(GemmaImagesConfig, WhatIsNotSaidIsThatOfGemma) {
  test::Json json = with("gemma3", {});
  json["text_config"] = {{"model_type", "gemma3_text"}, {"hidden_size", 2560}};
  json["vision_config"] = {{"image_size", 896}, {"patch_size", 14}};
  json.erase("mm_tokens_per_image");
  const config::ModelConfig model = model_of(json);
  EXPECT_EQ(model.num_layers, 26);
  EXPECT_EQ(model.num_query_groups, 4);
  EXPECT_EQ(model.kv_channels, 256);
  EXPECT_EQ(model.rotary_base, 1000000);
  EXPECT_EQ(model.rotary_base_local, 10000);
  EXPECT_EQ(model.vlm->positions(), 256);
  EXPECT_EQ(model.vlm->pooled_edge(), 4);
}

TEST(GemmaImagesConfig, RefusesWhatItCannotCompute) {
  const auto expect = [](const test::Json& change, const char* part) {
    const std::string message = refusal(with("gemma3", change));
    EXPECT_NE(message.find(part), std::string::npos) << message;
  };
  expect({{"mm_tokens_per_image", 5}}, "mm_tokens_per_image 5");
  expect({{"text_config", {{"model_type", "llama"}}}}, "text_config: model_type llama");
  expect({{"vision_config", {{"model_type", "clip_vision_model"}}}},
         "vision_config: model_type clip_vision_model");
}

TEST(GemmaImagesConfig, ComesBack) {
  const std::string json = with("gemma3", {}).dump();
  ModelDescription description = read_hugging_face_config(json, "config.json", 8);
  description.files.clear();
  const auto after = test::Json::parse(write_hugging_face_config(description, "gemma3"));
  EXPECT_EQ(after.at("mm_tokens_per_image"), 4);
  EXPECT_EQ(after.at("text_config").at("model_type"), "gemma3_text");
  EXPECT_EQ(after.at("vision_config").at("vision_use_head"), false);
  EXPECT_EQ(after.at("image_token_index"), 60);
}

}  // namespace gemma_images_config_test

}  // namespace mpitron::convert

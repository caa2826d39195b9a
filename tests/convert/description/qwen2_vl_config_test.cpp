#include <gtest/gtest.h>

#include "convert/config_changes.h"
#include "convert/names/name_table.h"

namespace mpitron::convert {
namespace qwen2_vl_config_test {

using test::Json;
using test::model_of;
using test::refusal;
using test::with;

TEST(Qwen2VlConfig, ReadsTheLanguageModel) {
  const config::ModelConfig model = model_of(with("qwen2_vl_text", {}));
  EXPECT_EQ(model.kind, config::ModelKind::gpt);
  EXPECT_FALSE(model.vlm);
  EXPECT_EQ(model.mrope_section, (std::vector<Index>{1, 1, 1}));
  EXPECT_TRUE(model.add_qkv_bias && !model.add_bias_linear);
  EXPECT_EQ(model.rotary_base, 10000);
}

TEST(Qwen2VlConfig, ReadsTheEncoder) {
  const config::ModelConfig model = model_of(with("qwen2_vl", {}));
  EXPECT_EQ(model.kind, config::ModelKind::vlm);
  ASSERT_TRUE(model.vlm && model.vlm->tower_sizes && model.vlm->projector_sizes);
  const config::VlmConfig& vlm = *model.vlm;
  EXPECT_EQ(vlm.tower, config::TowerKind::qwen2_vl);
  EXPECT_TRUE(vlm.pixel_shuffle);
  EXPECT_EQ(vlm.image_tags, config::ImageTags::qwen2_vl);
  EXPECT_EQ(vlm.positions(), 4);
  EXPECT_EQ(vlm.tower_sizes->head_size, 8);
  EXPECT_EQ(vlm.tower_sizes->ffn_hidden_size, 32);
  EXPECT_EQ(vlm.tower_sizes->norm_epsilon, 1e-6);
  EXPECT_EQ(vlm.projector_sizes->ffn_hidden_size, 64);
}

/// What a checkpoint keeps of it is the whole of it.
TEST(Qwen2VlConfig, ComesBackFromACheckpoint) {
  const ModelDescription read =
      read_hugging_face_config(with("qwen2_vl", {}).dump(), "config.json", 8);
  const config::ModelConfig model = from_configuration(to_configuration(read), "options").model;
  ASSERT_TRUE(model.vlm && model.vlm->tower_sizes);
  EXPECT_EQ(model.vlm->tower, config::TowerKind::qwen2_vl);
  EXPECT_EQ(model.mrope_section.size(), 3U);
  EXPECT_EQ(model.vlm->tile, 16);
  EXPECT_EQ(matching_model_type({.model = model}), "qwen2_vl");
  Json alone =
      Json::parse(write_hugging_face_config({.model = model, .vocab_size = 61}, "qwen2_vl"));
  EXPECT_EQ(alone.at("vision_config").at("mlp_ratio"), 2);
  EXPECT_EQ(alone.at("image_token_id"), 60);
}

TEST(Qwen2VlConfig, GivesItsWordsAloneWhereTheyAreAskedFor) {
  const ModelDescription words =
      read_hugging_face_config(with("qwen2_vl", {}).dump(), "config.json", 8, "qwen2_vl_text");
  EXPECT_EQ(words.model_type, "qwen2_vl_text");
  EXPECT_FALSE(words.model.vlm);
}

/// As transformers 5 writes it.
Json nested() {
  Json json = with("qwen2_vl", {}), text = json;
  text["model_type"] = "qwen2_vl_text";
  text["rope_parameters"] = {
      {"rope_theta", 500.0}, {"rope_type", "default"}, {"mrope_section", {1, 1, 1}}};
  text.erase("rope_scaling");
  text.erase("vision_config");
  return {{"model_type", "qwen2_vl"},
          {"text_config", text},
          {"vision_config", json["vision_config"]},
          {"tie_word_embeddings", true}};
}

TEST(Qwen2VlConfig, ReadsThatOfNewerReleases) {
  const config::ModelConfig model = model_of(nested());
  EXPECT_EQ(model.rotary_base, 500);
  EXPECT_EQ(model.mrope_section.size(), 3U);
  EXPECT_FALSE(model.untie_embeddings_and_output_weights);
}

TEST(Qwen2VlConfig, ComesBackWhereItWas) {
  for (const bool inside : {false, true}) {
    const std::string json = (inside ? nested() : with("qwen2_vl", {})).dump();
    const Json after = Json::parse(
        write_hugging_face_config(read_hugging_face_config(json, "config.json", 8), "qwen2_vl"));
    const Json& text = inside ? after.at("text_config") : after;
    EXPECT_EQ(text.at("rope_scaling").at("mrope_section"), Json({1, 1, 1}));
    EXPECT_EQ(text.at("rope_theta"), inside ? 500.0 : 10000.0);
    EXPECT_EQ(after.at("vision_config").at("depth"), 2);
  }
}

TEST(Qwen2VlConfig, RefusesWhatItCannotCompute) {
  EXPECT_NE(refusal(with("qwen2_vl", {{"rope_scaling", nullptr}})).find("mrope_section"),
            std::string::npos);
  for (const auto& [name, value] : std::map<std::string, Json>{{"spatial_merge_size", 3},
                                                               {"temporal_patch_size", 1},
                                                               {"hidden_size", 99},
                                                               {"mlp_ratio", 2.5},
                                                               {"num_heads", 8},
                                                               {"image_size", 12},
                                                               {"hidden_act", "tanh"}}) {
    Json json = with("qwen2_vl", {});
    json["vision_config"][name] = value;
    const std::string part = name == "num_heads" ? "heads" : name;
    EXPECT_NE(refusal(json).find("vision_config: "), std::string::npos) << name;
    EXPECT_NE(refusal(json).find(part), std::string::npos) << name << refusal(json);
  }
  EXPECT_NE(refusal(with("qwen2_vl", {{"use_sliding_window", true}})).find("use_sliding_window"),
            std::string::npos);
}

}  // namespace qwen2_vl_config_test

}  // namespace mpitron::convert

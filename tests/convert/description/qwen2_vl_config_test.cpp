#include <gtest/gtest.h>

#include "convert/config_changes.h"

namespace mpitron::convert {
namespace qwen2_vl_config_test {

using test::Json;
using test::model_of;
using test::refusal;
using test::with;

TEST(Qwen2VlConfig, ReadsTheLanguageModel) {
  const config::ModelConfig model = model_of(with("qwen2_vl", {}));
  EXPECT_EQ(model.kind, config::ModelKind::gpt);
  EXPECT_EQ(model.mrope_section, (std::vector<Index>{1, 1, 1}));
  EXPECT_TRUE(model.add_qkv_bias && !model.add_bias_linear);
  EXPECT_EQ(model.rotary_base, 10000);
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
    EXPECT_EQ(after.at("vision_config").at("depth"), 1);
  }
}

TEST(Qwen2VlConfig, RefusesWhatItCannotCompute) {
  EXPECT_NE(refusal(with("qwen2_vl", {{"rope_scaling", nullptr}})).find("mrope_section"),
            std::string::npos);
  EXPECT_NE(refusal(with("qwen2_vl", {{"use_sliding_window", true}})).find("use_sliding_window"),
            std::string::npos);
}

}  // namespace qwen2_vl_config_test

}  // namespace mpitron::convert

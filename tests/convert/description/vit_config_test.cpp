#include <gtest/gtest.h>

#include "convert/config_changes.h"
#include "convert/description/config_reading.h"

namespace mpitron::convert {
namespace vit_config_test {

using test::Json;
using test::model_of;
using test::refusal;
using test::with;

TEST(VitConfig, ReadsImagesAndClasses) {
  const config::ModelConfig model = model_of(with("vit", {}));
  EXPECT_EQ(model.kind, config::ModelKind::vit);
  EXPECT_EQ(model.vision.task, config::VisionTask::classify);
  EXPECT_EQ(model.vision.image_height, 12);
  EXPECT_EQ(model.vision.patch, 4);
  EXPECT_EQ(model.vision.class_tokens, 1);
  EXPECT_EQ(model.vision.classes, 5);
  EXPECT_TRUE(model.vision.linear_head);
  EXPECT_EQ(model.max_position_embeddings, 10);
  EXPECT_EQ(model.seq_length, 10);
  EXPECT_EQ(model.norm_epsilon, 1e-12);
  EXPECT_EQ(model.activation, config::ActivationKind::gelu_erf);
  EXPECT_EQ(model.padded_vocab_size, 0);
}

/// A file without names of classes tells two apart.
TEST(VitConfig, ClassesAreCountedByTheirNames) {
  EXPECT_EQ(model_of(with("vit", {{"id2label", nullptr}})).vision.classes, 2);
  EXPECT_EQ(
      model_of(with("vit", {{"id2label", {{"0", "a"}, {"1", "b"}, {"2", "c"}}}})).vision.classes,
      3);
}

TEST(VitConfig, NamesComeBackWhereTheyAreAsMany) {
  ModelDescription description = read_hugging_face_config(with("vit", {}).dump(), "config.json", 8);
  Json after = Json::parse(write_hugging_face_config(description, "vit"));
  EXPECT_EQ(after.at("id2label").at("3"), "class 3");
  EXPECT_FALSE(after.contains("vocab_size"));
  description.model.vision.classes = 3;
  after = Json::parse(write_hugging_face_config(description, "vit"));
  EXPECT_EQ(after.at("id2label").size(), 3U);
  EXPECT_EQ(after.at("id2label").at("2"), "LABEL_2");
  EXPECT_EQ(after.at("label2id").at("LABEL_2"), 2);
}

TEST(VitConfig, SaysWhatDiffers) {
  const std::pair<Json, const char*> wrong[] = {
      {{{"hidden_act", "relu"}}, "hidden_act relu"},
      {{{"hidden_act", "silu"}}, "a GELU"},
      {{{"qkv_bias", false}}, "qkv_bias false"},
      {{{"num_channels", 1}}, "num_channels 1: only 3"},
      {{{"image_size", 13}}, "patches that do not fill"},
      {{{"image_size", {12, 16}}}, "image_size is [12,16]"},
      {{{"image_size", 40000}}, "at most 32768"},
  };
  for (const auto& [change, part] : wrong) {
    EXPECT_NE(refusal(with("vit", change)).find(part), std::string::npos)
        << change.dump() << ": " << refusal(with("vit", change));
  }
}

}  // namespace vit_config_test
}  // namespace mpitron::convert

#include "convert/encoder_reader.h"

#include <map>

#include <gtest/gtest.h>

#include "convert/encoder_folders.h"
#include "convert/model_reader.h"
#include "support/temporary_folder.h"

namespace mpitron::convert {
namespace encoder_reader_test {

using test::write_encoder;
using test::write_siglip;

/// LLaVA's encoder is held against recorded logits (model_logits_test.cpp).
TEST(EncoderReader, HasTheNumbersThatItHasInLlava) {
  const test::TemporaryFolder folder;
  test::write_hugging_face_folder(folder.path() / "llava", "llava");
  ModelReader llava(folder.path() / "llava", {.format = Format::hugging_face, .model_type = ""});
  EXPECT_FALSE(is_image_encoder(folder.path() / "llava"));
  for (const bool with_words : {false, true}) {
    write_encoder(folder.path() / "clip", with_words);
    ASSERT_TRUE(is_image_encoder(folder.path() / "clip"));
    EncoderReader clip(folder.path() / "clip");
    Index same = 0;
    for (const TensorInfo& info : llava.ours().tensors()) {
      if (info.name.starts_with("vision_model.")) {
        EXPECT_EQ(test::floats_of(clip.ours().read(info.name)),
                  test::floats_of(llava.ours().read(info.name)))
            << info.name;
        ++same;
      }
    }
    EXPECT_EQ(same, 5 + 2 * 12);
    EXPECT_NE(clip.ours().find("vision_model.decoder.layers.2.mlp.linear_fc2.bias"), nullptr);
  }
}

TEST(EncoderReader, SiglipHasABiasAndANormBehind) {
  const test::TemporaryFolder folder;
  write_siglip(folder.path());
  const std::string model = "vision_model.";
  EncoderReader siglip(folder.path());
  EXPECT_EQ(test::floats_of(siglip.ours().read(model + "conv1.bias")),
            test::elements(model + "embeddings.patch_embedding.bias", 16));
  EXPECT_EQ(test::floats_of(siglip.ours().read(model + "ln_post.weight")),
            test::elements(model + "post_layernorm.weight", 16));
  const auto options = siglip.options();
  const std::map<std::string, std::string> by_name(options.begin(), options.end());
  EXPECT_EQ(by_name.at("--vision-model-type"), "siglip");
  EXPECT_EQ(by_name.at("--vision-activation"), "gelu_tanh");
  EXPECT_EQ(std::stod(by_name.at("--vision-norm-epsilon")), 1e-6);
}

/// Newer releases of the library leave the prefix of an encoder alone out.
TEST(EncoderReader, TakesNamesWithoutAPrefix) {
  const test::TemporaryFolder folder;
  write_encoder(folder.path() / "old", false);
  write_encoder(folder.path() / "new", false, "");
  EncoderReader before(folder.path() / "old"), after(folder.path() / "new");
  EXPECT_EQ(after.stored().tensors().front().name, "embeddings.class_embedding");
  for (const TensorInfo& info : before.ours().tensors()) {
    EXPECT_EQ(test::floats_of(after.ours().read(info.name)),
              test::floats_of(before.ours().read(info.name)));
  }
}

TEST(EncoderReader, KnowsTheOptionsOfARun) {
  const test::TemporaryFolder folder;
  write_encoder(folder.path(), true);
  const auto options = EncoderReader(folder.path()).options();
  const std::map<std::string, std::string> by_name(options.begin(), options.end());
  EXPECT_EQ(by_name.at("--encoder-num-layers"), "3");
  EXPECT_EQ(by_name.at("--img-h"), "8");
  EXPECT_EQ(by_name.at("--vision-kv-channels"), "8");
  EXPECT_EQ(by_name.at("--vision-activation"), "quick_gelu");
}

TEST(EncoderReader, SaysWhatIsMissing) {
  const test::TemporaryFolder folder;
  write_encoder(folder.path(), false);
  test::Json config = test::Json::parse(read_file(folder / "config.json"));
  config["num_hidden_layers"] = 4;
  test::write_text(folder.path() / "config.json", config.dump());
  try {
    const EncoderReader reader(folder.path());
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("layers.3"), std::string::npos) << error.what();
  }
}

}  // namespace encoder_reader_test
}  // namespace mpitron::convert

#include "data/images/image_texts.h"

#include <gtest/gtest.h>

#include "support/drawn_images.h"
#include "support/temporary_folder.h"
#include "utils/error.h"

namespace mpitron::data {
namespace image_texts_test {

/// A character a token.
ImageTextDataset::Options options(Index length) {
  return {.vlm = {.tile = 4, .patch = 2, .text_length = length},
          .eod = 0,
          .encode = [](std::string_view text) {
            return std::vector<std::int64_t>(text.begin(), text.end());
          }};
}

class ImageTextsTest : public ::testing::Test {
 protected:
  ImageTextsTest() { test::write_file(root_ / "a.ppm", test::drawn_image(0, 1)); }
  std::string file(const std::string& lines) const {
    test::write_file(root_ / "texts.jsonl", lines);
    return root_ / "texts.jsonl";
  }
  std::string refusal(const std::string& line) const {
    try {
      const ImageTextDataset texts(file(line), options(8));
      ImageTextDataset::Sample sample;
      texts.read_sample(0, sample);
    } catch (const Error& error) {
      return error.what();
    }
    return "";
  }
  test::TemporaryFolder root_;
};

constexpr const char* kCounted =
    R"({"image": "a.ppm", "conversations": [{"from": "human", "value": "<image>ab"}, {"from": "gpt", "value": "c"}]})";

TEST_F(ImageTextsTest, WhatTheAssistantSaysIsLearned) {
  const ImageTextDataset texts(file(std::string(kCounted) + "\n\n"), options(7));
  ASSERT_EQ(texts.size(), 1);
  ImageTextDataset::Sample sample;
  texts.read_sample(0, sample);
  EXPECT_EQ(sample.tokens, (std::vector<std::int64_t>{-200, 'a', 'b', 0, 'c', 0, 0}));
  EXPECT_EQ(sample.labels, (std::vector<std::int64_t>{'a', 'b', 0, 'c', 0, 0, 0}));
  EXPECT_EQ(sample.loss_mask, (std::vector<float>{0, 0, 0, 1, 1, 0, 0}));
  EXPECT_EQ(sample.images, 1);
  EXPECT_EQ(sample.tiles.size(), 48u);
}

TEST_F(ImageTextsTest, WhatIsWrongIsNamed) {
  EXPECT_NE(refusal(R"({"image": "a.ppm", "conversations": [{"from": "human", "value": "x"}]})")
                .find("line 1: 1 images, and <image> 0 times"),
            std::string::npos);
  EXPECT_NE(refusal("nonsense").find("line 1"), std::string::npos);
  EXPECT_NE(
      refusal(R"({"image": "no.png", "conversations": [{"from": "gpt", "value": "<image>"}]})")
          .find("no.png"),
      std::string::npos);
  EXPECT_NE(refusal(R"({"image": "a.ppm", "conversations": [{"from": "gpt",
      "value": "123456789<image>"}]})")
                .find("line 1"),
            std::string::npos);
  EXPECT_EQ(refusal(R"({"conversations": [{"from": "gpt", "value": "text only"}]})"), "");
}

}  // namespace image_texts_test
}  // namespace mpitron::data

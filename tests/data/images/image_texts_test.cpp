#include "data/images/image_texts.h"

#include <gtest/gtest.h>

#include "support/corpus.h"
#include "support/drawn_images.h"

namespace mpitron::data {
namespace image_texts_test {

/// A character a token, 0 behind each turn.
MarkedTokens encoded(const ImageConversation& conversation) {
  MarkedTokens tokens;
  for (const tokenizers::ChatMessage& turn : conversation) {
    std::string text = turn.content;
    if (const std::size_t at = text.find(kImageWord); at != std::string::npos) {
      text.replace(at, kImageWord.size(), 1, '\1');
    }
    for (const char c : text) {
      tokens.add(c == '\1' ? config::kImageToken : c, turn.role == "assistant");
    }
    tokens.add(0, turn.role == "assistant");
  }
  return tokens;
}

ImageTextDataset::Options options(Index length) {
  return {.vlm = {.tile = 4, .patch = 2, .text_length = length}, .encode = encoded};
}

class ImageTextsTest : public ::testing::Test {
 protected:
  ImageTextsTest() {
    test::write_file(root_ / "a.ppm", test::drawn_image(0, 1));
    test::write_file(root_ / "b.ppm", test::drawn_image(1, 2, 12));
  }
  std::string file(const std::string& lines) const {
    test::write_file(root_ / "texts.jsonl", lines);
    return root_ / "texts.jsonl";
  }
  ImageTextDataset::Sample read(const std::string& lines,
                                const ImageTextDataset::Options& options) const {
    const ImageTextDataset texts(open_conversations(file(lines)), options);
    ImageTextDataset::Sample sample;
    texts.read_sample(0, sample);
    return sample;
  }

  test::TemporaryFolder root_;
};

constexpr const char* kCounted =
    R"({"image": "a.ppm", "conversations": [{"from": "human", "value": "<image>ab"}, {"from": "gpt", "value": "c"}]})";

TEST_F(ImageTextsTest, WhatTheAssistantSaysIsLearned) {
  const ImageTextDataset::Sample sample = read(std::string(kCounted) + "\n\n", options(7));
  EXPECT_EQ(sample.tokens, (std::vector<std::int64_t>{-200, 'a', 'b', 0, 'c', 0, 0}));
  EXPECT_EQ(sample.labels, (std::vector<std::int64_t>{'a', 'b', 0, 'c', 0, 0, 0}));
  EXPECT_EQ(sample.loss_mask, (std::vector<float>{0, 0, 0, 1, 1, 0, 0}));
  EXPECT_EQ(sample.tiles_per_image, (std::vector<Index>{1}));
  EXPECT_EQ(sample.tiles.size(), 48u);
}

TEST_F(ImageTextsTest, LargeImagesAreCutIntoTiles) {
  auto with_tiles = options(12);
  with_tiles.vlm.tiling.most_tiles = 4;
  with_tiles.vlm.tiling.thumbnail = true;
  const ImageTextDataset::Sample plain = read(kCounted, with_tiles);
  EXPECT_EQ(plain.tiles_per_image, (std::vector<Index>{5}));
  EXPECT_EQ(plain.tiles.size(), 5u * 48);
  EXPECT_EQ(std::count(plain.tokens.begin(), plain.tokens.end(), -200), 1);

  with_tiles.vlm.tiling.tags = true;
  with_tiles.tile_tags = {{1}, {2}, {3}, {4}, {9}};
  const ImageTextDataset::Sample tagged = read(kCounted, with_tiles);
  EXPECT_EQ(std::vector<std::int64_t>(tagged.tokens.begin(), tagged.tokens.begin() + 11),
            (std::vector<std::int64_t>{1, -200, 2, -200, 3, -200, 4, -200, 9, -200, 'a'}));
  EXPECT_EQ(tagged.tiles_per_image, (std::vector<Index>{1, 1, 1, 1, 1}));
  EXPECT_EQ(tagged.tiles, plain.tiles);
}

TEST_F(ImageTextsTest, BadSamplesAreReplacedUpToALimit) {
  const std::string lines =
      R"({"image": "no.png", "conversations": [{"from": "human", "value": "<image>"}]})"
      "\n" +
      std::string(kCounted);
  auto lenient = options(7);
  lenient.most_bad_images = 1;
  EXPECT_EQ(read(lines, lenient).tokens, read(kCounted, options(7)).tokens);
  EXPECT_NE(test::message_of([&] { read(lines, options(7)); }).find("no.png"), std::string::npos);
}

TEST_F(ImageTextsTest, ATextThatEndsBeforeItsImageIsRefused) {
  const std::string line =
      R"({"image": "a.ppm", "conversations": [{"from": "human", "value": "123456789<image>"}]})";
  EXPECT_NE(test::message_of([&] { read(line, options(8)); }).find("line 1"), std::string::npos);
}

}  // namespace image_texts_test
}  // namespace mpitron::data

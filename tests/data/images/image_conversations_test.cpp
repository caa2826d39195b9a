#include "data/images/image_conversations.h"

#include <gtest/gtest.h>

#include "support/corpus.h"
#include "support/drawn_images.h"
#include "support/tar.h"

namespace mpitron::data {
namespace image_conversations_test {

using test::message_of;

class ImageConversationsTest : public ::testing::Test {
 protected:
  std::string refusal(const std::string& line) const {
    test::write_bytes(root_ / "texts.jsonl", line);
    return message_of([&] { open_conversations(root_ / "texts.jsonl"); });
  }
  test::TemporaryFolder root_;
};

TEST_F(ImageConversationsTest, RolesAreThoseOfBothForms) {
  test::write_bytes(root_ / "texts.jsonl", R"({"image": ["a/1.png", "2.png"], "messages": [
{"role": "system", "content": "s"}]})");
  EXPECT_NE(refusal("{}").find("line 1"), std::string::npos);
  test::write_bytes(
      root_ / "texts.jsonl",
      R"({"image": ["a/1.png", "2.png"], "conversations": [{"from": "human", "value": "<image> and <image>"}]})"
      "\n"
      R"({"messages": [{"role": "system", "content": "s"}, {"role": "assistant", "content": "t"}]})");
  const auto list = open_conversations(root_ / "texts.jsonl");
  ASSERT_EQ(list->size(), 2);
  EXPECT_EQ(list->images(0), 2);
  EXPECT_EQ(list->image_name(0, 0), root_ / "a/1.png");
  EXPECT_EQ(list->conversation(0)[0].role, "user");
  EXPECT_EQ(list->conversation(1)[1].content, "t");
  EXPECT_NE(list->name(1).find("line 2"), std::string::npos);
}

TEST_F(ImageConversationsTest, WhatIsWrongIsNamed) {
  EXPECT_NE(refusal(R"({"image": "a.ppm", "conversations": [{"from": "human", "value": "x"}]})")
                .find("line 1: 1 images, and <image> 0 times"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"conversations": [{"from": "human", "value": "<image>"}]})")
                .find("0 images, and <image> 1 times"),
            std::string::npos);
  EXPECT_NE(refusal(R"({"image": "a", "conversations": [{"from": "gpt", "value": "<image>"}]})")
                .find("answer of the assistant"),
            std::string::npos);
  EXPECT_NE(refusal("nonsense").find("line 1"), std::string::npos);
  EXPECT_NE(refusal("\n").find("no line"), std::string::npos);
  EXPECT_NE(refusal(R"({"image": "https://a/b.png", "conversations": [{"from": "human",
      "value": "<image>"}]})")
                .find("no text with images"),
            std::string::npos);
  EXPECT_NE(
      refusal(
          R"({"image": "https://a/b.png", "conversations": [{"from": "human", "value": "<image>"}]})")
          .find("nothing is fetched"),
      std::string::npos);
}

TEST_F(ImageConversationsTest, ShardsHoldConversationsAndCaptions) {
  const std::string image = test::drawn_image(0, 1);
  test::write_file(
      root_ / "x.tar",
      test::tar_of(
          {{"1.json",
            R"([{"from": "human", "value": "<image><image>?"}, {"from": "gpt", "value": "!"}])"},
           {"1.0.ppm", image},
           {"1.1.ppm", test::drawn_image(1, 1)},
           {"2.ppm", image},
           {"2.txt", "a square"},
           {"3.ppm", image}}));
  const auto list = open_conversations(root_ / "x.tar");
  ASSERT_EQ(list->size(), 3);
  EXPECT_EQ(list->images(0), 2);
  EXPECT_EQ(list->conversation(0)[1].content, "!");
  EXPECT_EQ(list->image_name(0, 1), root_ / "x.tar" + ", 1.1.ppm");
  EXPECT_EQ(list->conversation(1)[0].content, "<image>");
  EXPECT_EQ(list->conversation(1)[1].content, "a square");
  EXPECT_EQ(list->read(1, 0).bytes.size(), image.size());
  EXPECT_NE(message_of([&] { list->conversation(2); }).find("neither a conversation"),
            std::string::npos);
}

TEST(ImageTags, StandAroundEveryImage) {
  const std::string text = "a <image><image>";
  EXPECT_EQ(with_image_tags(text, config::ImageTags::none), text);
  EXPECT_EQ(with_image_tags(text, config::ImageTags::internvl),
            "a <img><image></img><img><image></img>");
  EXPECT_EQ(with_image_tags("<image>?", config::ImageTags::qwen2_vl),
            "<|vision_start|><image><|vision_end|>?");
  EXPECT_EQ(with_image_tags("<image>?", config::ImageTags::llama4),
            "<|image_start|><|image|><image><|image_end|>?");
  EXPECT_EQ(with_image_tags("<image>?", config::ImageTags::gemma3),
            "\n\n<start_of_image><image><end_of_image>\n\n?");
}

}  // namespace image_conversations_test
}  // namespace mpitron::data

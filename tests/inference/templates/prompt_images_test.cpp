#include "inference/templates/prompt_images.h"

#include <gtest/gtest.h>

#include "inference/templates/chat_prompt.h"
#include "support/corpus.h"
#include "support/drawn_images.h"
#include "support/temporary_folder.h"
#include "tokenizers/core/null_tokenizer.h"
#include "utils/error.h"

namespace mpitron::inference {
namespace prompt_images_test {

/// A PPM file of 2 x 1 pixels.
constexpr const char* kFile = "data:image/x-portable-pixmap;base64,UDYgMiAxIDI1NQoAAAD///8=";

std::string refusal(const PromptImages& images, const std::string& url) {
  return test::message_of([&] { images.read(url); });
}

TEST(PromptImages, ComeWithTheRequestOrFromAFolder) {
  const test::TemporaryFolder folder;
  test::write_file(folder / "in/a.ppm", test::drawn_image(1, 2));
  test::write_file(folder / "out.ppm", test::drawn_image(1, 2));
  const config::VlmConfig vlm{.tile = 8, .patch = 4};
  const PromptImages images(vlm, {.root = folder / "in", .most_pixels = 600});
  EXPECT_EQ(images.read(kFile)->size(), 3U * 8 * 8);
  EXPECT_EQ(*images.read("file://a.ppm"), *images.read(folder / "in/a.ppm"));
  EXPECT_NE(refusal(images, "../out.ppm").find("no file below"), std::string::npos);
  EXPECT_NE(refusal(images, "/etc/passwd").find("no file below"), std::string::npos);
  EXPECT_NE(refusal(images, "https://x/a.png").find("nothing is fetched"), std::string::npos);
  EXPECT_NE(refusal(images, "data:image/png;base64,???").find("base64"), std::string::npos);
  EXPECT_NE(refusal(images, "data:image/svg+xml;base64,PHN2Zy8+").find("SVG"), std::string::npos);
  EXPECT_NE(refusal(PromptImages(vlm, {.most_pixels = 1}), kFile).find("2 x 1 pixels are more"),
            std::string::npos);
  EXPECT_NE(refusal(PromptImages(vlm, {}), "a.ppm").find("--allowed-local-media-path"),
            std::string::npos);
}

TEST(PromptImages, TakeTheirPositions) {
  const PromptImages images({.tile = 8, .patch = 4}, {});
  const tokenizers::NullTokenizer tokenizer(20);
  const PromptImage image = images.read(kFile);
  const TokenIds want = {1, -200, -200, -200, -200, -200, 2};
  EXPECT_EQ(images.encode(tokenizer, "1 <image> 2", std::span(&image, 1)), want);
  EXPECT_THROW(images.encode(tokenizer, "1 2", std::span(&image, 1)), Error);
}

TEST(PromptImages, AreFoundInMessages) {
  const std::string messages =
      R"([{"role": "user", "content": [{"type": "image_url", "image_url": {"url": "a"}},
          {"type": "text", "text": "x"}, {"type": "image_url", "image_url": "b"}]},
          {"role": "assistant", "content": "y"}])";
  EXPECT_EQ(chat_images(messages), (std::vector<std::string>{"a", "b"}));
  EXPECT_TRUE(chat_images(R"({"x": 1})").empty());
}

}  // namespace prompt_images_test
}  // namespace mpitron::inference

#include "data/images/image_shards.h"

#include <gtest/gtest.h>

#include "support/corpus.h"
#include "support/drawn_images.h"
#include "support/tar.h"

namespace mpitron::data {
namespace image_shards_test {

using test::message_of;

class ImageShardsTest : public ::testing::Test {
 protected:
  ImageShardsTest() {
    test::write_file(root_ / "b.tar",
                     test::tar_of({{"003.ppm", test::drawn_image(0, 3)}, {"003.cls", "0"}}));
    test::write_file(root_ / "a.tar", test::tar_of({{"x/001.ppm", test::drawn_image(0, 1)},
                                                    {"x/001.cls", "0\n"},
                                                    {"x/001.json", "{}"},
                                                    {"x/002.cls", "2"},
                                                    {"x/002.PPM", test::drawn_image(1, 2)}}));
  }
  test::TemporaryFolder root_;
};

TEST_F(ImageShardsTest, SamplesComeInTheOrderOfShardsAndMembers) {
  const ImageShards shards(root_.path(), {}, {});
  ASSERT_EQ(shards.size(), 3);
  EXPECT_EQ(shards.classes(), (std::vector<std::string>{"0", "1", "2"}));
  EXPECT_EQ(shards.name(0), root_ / "a.tar" + ", x/001");
  EXPECT_EQ(shards.label(1), 2);
  EXPECT_EQ(shards.name(2), root_ / "b.tar" + ", 003");
  const std::string expected = test::drawn_image(1, 2);
  EXPECT_EQ(decoded(shards, 1).pixels,
            images::decode(std::as_bytes(std::span(expected)), "").pixels);
  EXPECT_EQ(ImageShards(root_ / "b.tar", {}, {}).size(), 1);
}

TEST_F(ImageShardsTest, OffsetsAreReadFromTheIndexUntilTheShardChanges) {
  const std::string index = root_ / "a.tar.index";
  const ImageShards first(root_.path(), {}, {});
  std::string text = read_file(index);
  text.replace(text.find("x/001.cls"), 9, "x/001.xyz");
  test::write_bytes(index, text);
  EXPECT_NE(message_of([&] { ImageShards(root_.path(), {}, {}); }).find("number of its class"),
            std::string::npos);
  test::write_bytes(root_ / "a.tar", read_file(root_ / "a.tar") + std::string(512, '\0'));
  EXPECT_EQ(ImageShards(root_.path(), {}, {}).size(), 3);
  test::write_bytes(index, "something else\n");
  EXPECT_EQ(ImageShards(root_.path(), {}, {}).size(), 3);
}

TEST_F(ImageShardsTest, IndicesMayLieElsewhere) {
  std::filesystem::create_directories(root_ / "cache");
  const ImageShards shards(root_.path(), {}, root_ / "cache");
  EXPECT_FALSE(std::filesystem::exists(root_ / "a.tar.index"));
  EXPECT_FALSE(std::filesystem::is_empty(root_ / "cache"));
}

TEST_F(ImageShardsTest, SamplesWithoutClassOrImageAreRefusedByName) {
  const auto refusal = [&](const std::string& tar) {
    test::write_bytes(root_ / "c.tar", tar);
    return message_of([&] { ImageShards(root_ / "c.tar", {}, {}); });
  };
  EXPECT_NE(refusal(test::tar_of({{"5.jpg", ""}})).find("c.tar, 5: a sample has"),
            std::string::npos);
  EXPECT_NE(refusal(test::tar_of({{"5.cls", "1"}})).find("c.tar, 5: a sample has"),
            std::string::npos);
  EXPECT_NE(refusal(test::tar_of({{"5.jpg", ""}, {"5.cls", "one"}})).find("5.cls: not the number"),
            std::string::npos);
  EXPECT_NE(refusal(test::tar_of({})).find("no file in them"), std::string::npos);
}

}  // namespace image_shards_test
}  // namespace mpitron::data

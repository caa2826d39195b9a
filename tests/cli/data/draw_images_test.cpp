#include <gtest/gtest.h>

#include "cli/tiny_run.h"
#include "support/drawn_images.h"
#include "utils/system/files.h"

namespace mpitron::cli {
namespace draw_images_test {

using namespace mpitron::test;

TEST(DrawImages, MakesWhatModelsLearnFrom) {
  const TemporaryFolder folder;
  const auto images = [&](const Words& words) {
    return run_program(folder.path(), Words{"dataset", "images"} + words);
  };
  ASSERT_EQ(images({"draw", "shapes", "--images", "6", "--validation-images", "7"}).code, 0);
  EXPECT_TRUE(contains(images({"inspect", "shapes/valid", "--json"}).out, R"("circle": 2)"));
  write_file(folder / "words", "cat\nCat\nfartoolongaword\n");
  const Finished asked = images({"draw", "asked", "--questions", "--words", "words", "--images",
                                 "2", "--validation-images", "2"});
  ASSERT_EQ(asked.code, 0) << asked.err;
  EXPECT_TRUE(contains(read_file(folder / "asked/questions.jsonl"),
                       R"("question": "Which word?", "answers": ["cat"])"));
  EXPECT_TRUE(contains(read_file(folder / "asked/train.jsonl"), R"("image": "train/00001.png")"));
  write_file(folder / "words", "Cat\n");
  EXPECT_EQ(images({"draw", "x", "--questions", "--words", "words"}).code, 4);
  EXPECT_EQ(images({"draw", "x", "--edge", "8"}).code, 2);
}

}  // namespace draw_images_test
}  // namespace mpitron::cli

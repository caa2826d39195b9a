#include <gtest/gtest.h>

#include "cli/tiny_run.h"
#include "support/drawn_images.h"

namespace mpitron::cli {
namespace dataset_images_test {

using namespace mpitron::test;

class DatasetImages : public ::testing::Test {
 protected:
  DatasetImages() {
    for (long i = 0; i < 3; ++i) {
      write_file(folder_ / ("in/disc/" + std::to_string(i) + ".ppm"), drawn_image(1, i));
    }
    write_file(folder_ / "in/square/0.ppm", drawn_image(0, 0));
  }
  Finished images(const Words& words) const {
    return run_program(folder_.path(), Words{"dataset", "images"} + words);
  }

  TemporaryFolder folder_;
};

TEST_F(DatasetImages, PacksShowsAndVerifies) {
  const Finished packed = images({"pack", "in", "x.h5", "--json"});
  EXPECT_EQ(packed.code, 0) << packed.err;
  EXPECT_TRUE(contains(packed.out, R"("images": 4, "classes": 2)")) << packed.out;
  EXPECT_TRUE(contains(images({"inspect", "x.h5", "--json"}).out,
                       R"("classes": {"disc": 3, "square": 1})"));
  EXPECT_TRUE(contains(images({"inspect", "x.h5", "--image", "3"}).out, "square, 24 x 24 pixels"));
  EXPECT_TRUE(contains(images({"verify", "x.h5", "--decode"}).out, "4 images, 0 of them bad"));
}

TEST_F(DatasetImages, NamesWhatIsDamaged) {
  write_file(folder_ / "in/square/1.ppm", "P6\n24 24\n255\nshort");
  const Finished verified = images({"verify", "in", "--decode"});
  EXPECT_EQ(verified.code, 4) << verified.out;
  EXPECT_TRUE(contains(verified.err + verified.out, "square/1.ppm"));
}

TEST_F(DatasetImages, SaysWhatIsWrong) {
  EXPECT_EQ(images({"pack", "in"}).code, 2);
  EXPECT_TRUE(contains(images({"pack", "in", "x"}).err, "must end in .h5"));
  EXPECT_TRUE(contains(images({"verify", "in"}).err, "add --decode"));
  EXPECT_EQ(images({"inspect", "missing"}).code, 4);
  ASSERT_EQ(images({"pack", "in", "x.h5"}).code, 0);
  EXPECT_TRUE(contains(images({"inspect", "x.h5", "--image", "4"}).err, "images 0 to 3"));
}

}  // namespace dataset_images_test
}  // namespace mpitron::cli

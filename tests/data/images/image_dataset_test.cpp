#include "data/images/image_dataset.h"

#include <gtest/gtest.h>

#include "support/drawn_images.h"
#include "support/temporary_folder.h"
#include "utils/error.h"

namespace mpitron::data {
namespace image_dataset_test {

using config::VisionTask;

config::VisionConfig vision_of(VisionTask task) {
  return {.task = task, .image_height = 16, .image_width = 16, .patch = 4, .classes = 2};
}

class ImageDatasetTest : public ::testing::Test {
 protected:
  ImageDatasetTest() {
    for (long i = 0; i < 4; ++i) {
      test::write_file(root_ / ("a/" + std::to_string(i) + ".ppm"), test::drawn_image(0, i));
      test::write_file(root_ / ("b/" + std::to_string(i) + ".ppm"), test::drawn_image(1, i));
    }
  }
  ImageDataset dataset(const config::VisionConfig& vision, bool training = true) const {
    return ImageDataset(open_images(root_.path()),
                        {.vision = vision, .training = training, .seed = 7});
  }

  struct Read {
    std::vector<float> pixels, mask;
    std::int64_t label = -1;
    bool operator==(const Read&) const = default;
  };
  static Read read(const ImageDataset& dataset, Index sample, Index epoch = 0) {
    Read result{std::vector<float>(static_cast<std::size_t>(dataset.pixels())),
                std::vector<float>(16)};
    dataset.read_view(sample, epoch,
                      {.pixels = result.pixels, .label = &result.label, .mask = result.mask});
    return result;
  }

  test::TemporaryFolder root_;
};

TEST_F(ImageDatasetTest, ViewsFollowFromSampleAndEpoch) {
  const ImageDataset images = dataset(vision_of(VisionTask::classify));
  EXPECT_EQ(images.size(), 8);
  EXPECT_EQ(read(images, 2), read(images, 2));
  EXPECT_NE(read(images, 2).pixels, read(images, 2, 1).pixels);
  EXPECT_EQ(read(images, 2).label, 0);
  EXPECT_EQ(read(images, 5).label, 1);
}

TEST_F(ImageDatasetTest, CropsOfDinoLieOneBehindTheOther) {
  config::VisionConfig vision = vision_of(VisionTask::dino);
  vision.dino = {.local_size = 8, .local_crops = 3};
  const Read crops = read(dataset(vision), 1);
  constexpr std::size_t kGlobal = 3 * 16 * 16, kLocal = 3 * 8 * 8;
  ASSERT_EQ(crops.pixels.size(), 2 * kGlobal + 3 * kLocal);
  const auto part = [&](std::size_t begin, std::size_t count) {
    return std::vector<float>(crops.pixels.begin() + static_cast<Index>(begin),
                              crops.pixels.begin() + static_cast<Index>(begin + count));
  };
  EXPECT_NE(part(0, kGlobal), part(kGlobal, kGlobal));
  EXPECT_NE(part(2 * kGlobal, kLocal), part(2 * kGlobal + kLocal, kLocal));
  EXPECT_NE(crops.pixels.back(), 0);
  vision.dino->local_crops = 1;
  EXPECT_EQ(read(dataset(vision), 1).pixels, part(0, 2 * kGlobal + kLocal));
  EXPECT_EQ(read(dataset(vision, false), 1).pixels.size(), kGlobal);
}

TEST_F(ImageDatasetTest, EvaluationTakesTheWholeImage) {
  const ImageDataset images = dataset(vision_of(VisionTask::classify), false);
  EXPECT_EQ(read(images, 3), read(images, 3, 5));
}

TEST_F(ImageDatasetTest, AMaskedImageIsNeitherCutNorNormalised) {
  const ImageDataset images = dataset(vision_of(VisionTask::inpaint));
  const Read first = read(images, 1), later = read(images, 1, 3);
  EXPECT_EQ(first.pixels, later.pixels);
  EXPECT_NE(first.mask, later.mask);
  EXPECT_GE(*std::min_element(first.pixels.begin(), first.pixels.end()), 0);
  EXPECT_LE(*std::max_element(first.pixels.begin(), first.pixels.end()), 1);
  EXPECT_GT(std::count(first.mask.begin(), first.mask.end(), 1.f), 0);
}

TEST_F(ImageDatasetTest, TheLastPatchesAreMaskedInRows) {
  config::VisionConfig vision = vision_of(VisionTask::inpaint);
  vision.mask_shape = config::MaskShape::last_rows;
  vision.mask_factor = 0.25;
  const Read first = read(dataset(vision), 0);
  EXPECT_EQ(std::vector<float>(first.mask.begin() + 12, first.mask.end()),
            std::vector<float>(4, 1.f));
  EXPECT_EQ(first.mask[11], 0);
}

TEST_F(ImageDatasetTest, BadImagesAreReplacedByTheNextUpToALimit) {
  test::write_file(root_ / "a/1.ppm", "P6 24 24 255 short");
  config::VisionConfig vision = vision_of(VisionTask::classify);
  EXPECT_THROW(read(dataset(vision), 1), Error);
  vision.most_bad_images = 1;
  const ImageDataset images = dataset(vision);
  EXPECT_EQ(read(images, 1), read(images, 2));
  EXPECT_EQ(read(images, 1), read(images, 2));  // counted once
  test::write_file(root_ / "b/0.ppm", "");
  EXPECT_THROW(read(images, 4), Error);
}

}  // namespace image_dataset_test
}  // namespace mpitron::data

#include "models/vit/dino_batch.h"

#include <gtest/gtest.h>

#include "models/vit/vit_batch.h"
#include "support/host_runtime.h"
#include "support/tensors.h"

namespace mpitron::models {
namespace dino_batch_test {

/// Two images of 4 x 4 pixels, three small crops of 2 x 2 each.
const config::VisionConfig kVision{.task = config::VisionTask::dino,
                                   .image_height = 4,
                                   .image_width = 4,
                                   .patch = 2,
                                   .class_tokens = 1,
                                   .dino = config::DinoConfig{.local_size = 2, .local_crops = 3}};

std::vector<double> numbers(const tensor::Tensor& x) {
  return test::values_of(x);
}

TEST(DinoBatch, CropsComeImageByImage) {
  const auto device = device::make_device("host");
  std::vector<float> pixels(static_cast<std::size_t>(2 * kVision.crop_pixels()));
  for (std::size_t i = 0; i < pixels.size(); ++i) {
    pixels[i] = static_cast<float>(i);
  }
  const std::vector<float> weights{1, 0.5};
  const HostMicrobatch microbatch{.samples = 2,
                                  .columns = {{kPixels, pixels}, {kLossMask, weights}}};
  const Batch batch = dino_batch(*device, microbatch, kVision);
  EXPECT_EQ(batch[kPatches].shape(), (Shape{4, 4, 12}));
  EXPECT_EQ(batch[kLocalPatches].shape(), (Shape{1, 6, 12}));
  EXPECT_EQ(batch[kPositionIds].shape(), (Shape{5, 4}));
  EXPECT_EQ(batch[kLocalPositions].shape(), (Shape{2, 6}));
  // The first number of each crop: large ones of 48, small ones of 12, images of 132.
  EXPECT_EQ(numbers(batch[kPatches])[0], 0);
  EXPECT_EQ(numbers(batch[kPatches])[12], 48);
  EXPECT_EQ(numbers(batch[kPatches])[24], 132);
  EXPECT_EQ(numbers(batch[kLocalPatches])[12], 108);
  EXPECT_EQ(numbers(batch[kLocalPatches])[36], 132 + 96);
  const std::vector<std::int64_t> rows{1, -1, 0, -1, 3, -1, 2, -1, 0, 1,
                                       0, 1,  0, 1,  2, 3,  2, 3,  2, 3};
  EXPECT_TRUE(std::equal(rows.begin(), rows.end(), batch[kTeacherRows].data<std::int64_t>()));
  EXPECT_EQ(numbers(batch[kLossMask]), (std::vector<double>{1, 1, 0.5, 0.5, 2, 2, 2, 1, 1, 1}));
  EXPECT_EQ(batch.loss_tokens, 12);
}

TEST(DinoBatch, WholeImagesHaveNoTeacher) {
  const auto device = device::make_device("host");
  const std::vector<float> pixels(static_cast<std::size_t>(2 * kVision.pixels()));
  const Batch batch = dino_batch(*device, {.samples = 2, .columns = {{kPixels, pixels}}}, kVision);
  EXPECT_EQ(batch[kPatches].shape(), (Shape{4, 2, 12}));
  EXPECT_FALSE(batch[kTeacherRows]);
}

}  // namespace dino_batch_test
}  // namespace mpitron::models

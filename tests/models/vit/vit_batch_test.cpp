#include "models/vit/vit_batch.h"

#include <numeric>

#include <gtest/gtest.h>

#include "support/tensors.h"

namespace mpitron::models {
namespace vit_batch_test {

/// Channel * 100 + pixel.
std::vector<float> numbered_image() {
  std::vector<float> pixels;
  for (int i = 0; i < 3 * 16; ++i) {
    pixels.push_back(static_cast<float>(i / 16 * 100 + i % 16));
  }
  return pixels;
}

TEST(VitBatch, AreRowsThenColumnsThenChannels) {
  const auto device = device::make_device("reference");
  const config::VisionConfig vision{
      .image_height = 4, .image_width = 4, .patch = 2, .class_tokens = 1};
  const std::vector<float> pixels = numbered_image(), weights{1};
  const std::vector<std::int64_t> labels{3};
  const Batch batch = vit_batch(
      *device,
      {.samples = 1, .columns = {{kLabels, labels}, {kLossMask, weights}, {kPixels, pixels}}},
      vision);
  EXPECT_EQ(batch[kPatches].shape(), (Shape{4, 1, 12}));
  const std::vector<double> values = test::values_of(batch[kPatches]);
  EXPECT_EQ(std::vector<double>(values.begin(), values.begin() + 12),
            (std::vector<double>{0, 100, 200, 1, 101, 201, 4, 104, 204, 5, 105, 205}));
  EXPECT_EQ(values[12], 2);
  EXPECT_EQ(batch[kPositionIds].shape(), (Shape{5, 1}));
  EXPECT_EQ(batch.loss_tokens, 1);
}

TEST(VitBatch, BehindTheMaskIsNothingAndTheTargetStays) {
  const auto device = device::make_device("reference");
  const config::VisionConfig vision{.task = config::VisionTask::inpaint,
                                    .image_height = 4,
                                    .image_width = 4,
                                    .patch = 2,
                                    .class_tokens = 0};
  const std::vector<float> pixels = numbered_image(), mask{0, 1, 0, 0};
  const Batch batch = vit_batch(
      *device, {.samples = 1, .columns = {{kPixels, pixels}, {kPatchMask, mask}}}, vision);
  const std::vector<double> seen = test::values_of(batch[kPatches]);
  EXPECT_EQ(std::accumulate(seen.begin() + 12, seen.begin() + 24, 0.0), 0);
  EXPECT_EQ(test::values_of(batch[kTargetPatches])[12], 2);
  EXPECT_EQ(batch.loss_tokens, 1);
  EXPECT_FALSE(batch[kLabels]);
}

}  // namespace vit_batch_test
}  // namespace mpitron::models

#include "models/vit/image_quality.h"

#include <cmath>

#include <gtest/gtest.h>

#include "tensor/host_copy.h"

namespace mpitron::models {
namespace image_quality_test {

class ImageQualityTest : public ::testing::Test {
 protected:
  /// One image in patches of its own size.
  PaintedPatches image(Index edge, float painted, float target) const {
    const Shape shape{1, 1, edge * edge * 3};
    PaintedPatches patches{tensor::empty_on_host(*device_, shape, DType::f32),
                           tensor::empty_on_host(*device_, shape, DType::f32),
                           tensor::empty_on_host(*device_, {1, 1}, DType::f32)};
    for (Index i = 0; i < shape.numel(); ++i) {
      patches.painted.data<float>()[i] = painted;
      patches.target.data<float>()[i] = target;
    }
    patches.mask.data<float>()[0] = 1;
    return patches;
  }
  static config::VisionConfig vision(Index edge) {
    return {.image_height = edge, .image_width = edge, .patch = edge};
  }
  std::unique_ptr<device::Device> device_ = device::make_device("host");
};

TEST_F(ImageQualityTest, ATenthBesideTheTargetIsTwentyDecibels) {
  EXPECT_NEAR(image_quality(image(12, 0.6f, 0.5f), vision(12)).psnr, 20, 1e-5);
}

TEST_F(ImageQualityTest, TheSameImageIsWhollySimilar) {
  EXPECT_NEAR(*image_quality(image(12, 0.4f, 0.4f), vision(12)).ssim, 1, 1e-9);
}

TEST_F(ImageQualityTest, FlatImagesDifferByTheirLevel) {
  const double a = 0.75, b = 0.25, c1 = 1e-4;
  EXPECT_NEAR(*image_quality(image(12, 0.75f, 0.25f), vision(12)).ssim,
              (2 * a * b + c1) / (a * a + b * b + c1), 1e-6);
}

TEST_F(ImageQualityTest, WhatIsNotMaskedCountsAsEqual) {
  PaintedPatches patches = image(12, 1, 0);
  patches.mask.data<float>()[0] = 0;
  EXPECT_TRUE(std::isinf(image_quality(patches, vision(12)).psnr));
}

TEST_F(ImageQualityTest, SmallImagesHaveNoSimilarity) {
  EXPECT_FALSE(image_quality(image(8, 1, 0), vision(8)).ssim.has_value());
}

}  // namespace image_quality_test
}  // namespace mpitron::models

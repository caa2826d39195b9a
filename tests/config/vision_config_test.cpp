#include "config/vision_config.h"

#include <gtest/gtest.h>

namespace mpitron::config {
namespace vision_config_test {

TEST(VisionConfig, PatchesCoverTheImageAndClassTokensStandInFront) {
  const VisionConfig vision{
      .image_height = 32, .image_width = 48, .channels = 3, .patch = 16, .class_tokens = 2};
  EXPECT_EQ(vision.patches(), 6);
  EXPECT_EQ(vision.positions(), 8);
  EXPECT_EQ(vision.patch_width(), 16 * 16 * 3);
  EXPECT_EQ(vision.pixels(), vision.patches() * vision.patch_width());
}

TEST(VisionConfig, SmallCropsAreImagesOfTheirOwn) {
  VisionConfig vision{.image_height = 64, .image_width = 64, .channels = 1, .patch = 16};
  vision.dino = DinoConfig{.local_size = 32, .local_crops = 3};
  EXPECT_EQ(vision.dino->crops(), 5);
  EXPECT_EQ(vision.of_local_crops().patches(), 4);
  EXPECT_EQ(vision.crop_pixels(), 2 * vision.pixels() + 3 * vision.of_local_crops().pixels());
}

TEST(VlmConfig, PositionsAreWhatTheLanguageModelSees) {
  VlmConfig vlm{.tile = 28, .patch = 14};
  EXPECT_EQ(vlm.tower_positions(), 5);
  EXPECT_EQ(vlm.positions(), 5);
  vlm.class_token = false;
  EXPECT_EQ(vlm.positions(), 4);
  vlm.pixel_shuffle = true;
  EXPECT_EQ(vlm.positions(), 1);
  vlm.tower = TowerKind::siglip;
  EXPECT_EQ(vlm.tower_positions(), 4);
  vlm.tower = TowerKind::llama4;
  EXPECT_EQ(vlm.tower_positions(), 5);
  EXPECT_EQ(vlm.positions(), 1);
}

TEST(VlmConfig, AThumbnailIsOneTileMoreOfSeveral) {
  VlmConfig vlm{.tiling = {.most_tiles = 1, .thumbnail = true}};
  EXPECT_EQ(vlm.most_tiles(), 1);
  vlm.tiling.most_tiles = 6;
  EXPECT_EQ(vlm.most_tiles(), 7);
}

}  // namespace vision_config_test
}  // namespace mpitron::config

#include "images/transforms/tiles.h"

#include <gtest/gtest.h>

namespace mpitron::images {
namespace tiles_test {

/// Each pixel tells its column and row.
Image numbered(Index width, Index height) {
  Image image(width, height);
  for (Index y = 0; y < height; ++y) {
    for (Index x = 0; x < width; ++x) {
      image.row(y)[x * kChannels] = static_cast<std::uint8_t>(x);
      image.row(y)[x * kChannels + 1] = static_cast<std::uint8_t>(y);
    }
  }
  return image;
}

TEST(Tiles, AreCutRowByRowWithTheThumbnailBehind) {
  const Image image = numbered(24, 16);
  const auto tiles = cut_into_tiles(image, {.tile = 8, .most_tiles = 6, .thumbnail = true});
  ASSERT_EQ(tiles.size(), 7u);
  EXPECT_EQ(tiles[0].pixels, crop(image, {0, 0, 8, 8}).pixels);
  EXPECT_EQ(tiles[1].pixels, crop(image, {8, 0, 8, 8}).pixels);
  EXPECT_EQ(tiles[3].pixels, crop(image, {0, 8, 8, 8}).pixels);
  EXPECT_EQ(tiles[6].pixels, resize(image, {8, 8}, Filter::bicubic).pixels);
}

TEST(Tiles, OneTileNeedsNoThumbnail) {
  EXPECT_EQ(cut_into_tiles(numbered(9, 9), {.tile = 8, .most_tiles = 1, .thumbnail = true}).size(),
            1u);
}

TEST(Tiles, APaletteKeepsItsColours) {
  Image image = numbered(2, 1);
  image.has_palette = true;
  const auto tiles = cut_into_tiles(image, {.tile = 4, .keeps_palettes = true});
  EXPECT_EQ(tiles[0].pixels, resize_to_nearest(image, {4, 4}).pixels);
  EXPECT_EQ(tiles[0].pixels[3], 0);
  EXPECT_EQ(tiles[0].pixels[6], 1);
}

}  // namespace tiles_test
}  // namespace mpitron::images

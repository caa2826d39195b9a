#include "models/llava/llava_batch.h"

#include <gtest/gtest.h>

#include "utils/error.h"

namespace mpitron::models {
namespace llava_batch_test {

/// Tiles of 4 patches of 1 pixel; an image is 4 positions a tile.
const config::VlmConfig kVlm{.tower = config::TowerKind::siglip, .tile = 2, .patch = 1};

/// Two rows: an image of one tile behind one token, and no image.
struct Rows {
  std::vector<std::int64_t> tokens{7, -200, 9, 5, 6, 8}, labels{-200, 9, 1, 6, 8, 2};
  std::vector<float> mask{1, 1, 1, 1, 1, 1};
  std::vector<std::int64_t> images{1, 0}, tiles{1};
  std::vector<float> pixels = std::vector<float>(12, 0.5f);

  HostMicrobatch microbatch(Index s) const {
    return {.samples = 2,
            .sequence_length = s,
            .columns = {{kTokens, tokens},
                        {kLabels, labels},
                        {kLossMask, mask},
                        {kPixels, pixels},
                        {kImagesPerRow, images},
                        {kTilesPerImage, tiles}}};
  }
};

/// Every second number: those of one row.
template <class T>
std::vector<T> row(const std::vector<T>& values, std::size_t which) {
  std::vector<T> result;
  for (std::size_t i = which; i < values.size(); i += 2) {
    result.push_back(values[i]);
  }
  return result;
}

TEST(LlavaBatch, TilesStandWhereTheirTokenWas) {
  const MergedRows merged = merge_images(Rows().microbatch(7), kVlm, 7);
  // Text rows 0 to 5 (position, sample), then the four positions of the tile.
  EXPECT_EQ(row(merged.rows, 0), (std::vector<std::int64_t>{0, 6, 7, 8, 9, 4, -1}));
  EXPECT_EQ(row(merged.rows, 1), (std::vector<std::int64_t>{1, 3, 5, -1, -1, -1, -1}));
  EXPECT_EQ(merged.from[2], -1);  // the token of the image itself
  EXPECT_EQ(merged.from[4], 10);
}

TEST(LlavaBatch, NothingPredictsAnImage) {
  const MergedRows merged = merge_images(Rows().microbatch(7), kVlm, 7);
  EXPECT_EQ(row(merged.labels, 0), (std::vector<std::int64_t>{-100, -100, -100, -100, 9, 1, -100}));
  EXPECT_EQ(row(merged.loss_mask, 0), (std::vector<float>{0, 0, 0, 0, 0, 1, 0}));
  EXPECT_EQ(row(merged.labels, 1), (std::vector<std::int64_t>{6, 8, 2, -100, -100, -100, -100}));
}

TEST(LlavaBatch, WhatIsBehindTheLengthIsCutOff) {
  const MergedRows merged = merge_images(Rows().microbatch(3), kVlm, 3);
  EXPECT_EQ(row(merged.rows, 0), (std::vector<std::int64_t>{0, 6, 7}));
  EXPECT_EQ(merged.from[9], -1);
}

TEST(LlavaBatch, ImagesWithoutAPlaceAreRefused) {
  Rows rows;
  rows.images = {0, 1};
  EXPECT_THROW(merge_images(rows.microbatch(7), kVlm, 7), Error);
}

}  // namespace llava_batch_test
}  // namespace mpitron::models

#include <gtest/gtest.h>

#include "models/llava/image_rows.h"
#include "models/llava/llava_batch.h"
#include "utils/error.h"

namespace mpitron::models {
namespace image_merging_test {

TEST(ImageMerging, TilesStandWhereTheirTokenWas) {
  const MergedRows merged = merge_images(Rows().microbatch(7), kVlm, 7);
  // Text rows 0 to 5 (position, sample), then the four positions of the tile.
  EXPECT_EQ(row(merged.rows, 0), (std::vector<std::int64_t>{0, 6, 7, 8, 9, 4, -1}));
  EXPECT_EQ(row(merged.rows, 1), (std::vector<std::int64_t>{1, 3, 5, -1, -1, -1, -1}));
  EXPECT_EQ(merged.from[2], -1);  // the token of the image itself
  EXPECT_EQ(merged.from[4], 10);
}

/// Of an image that sees itself; what is cut off is not there to be seen.
TEST(ImageMerging, PositionsOfAnImageEndTogether) {
  EXPECT_TRUE(merge_images(Rows().microbatch(7), kVlm, 7).seen_until.empty());
  config::VlmConfig vlm = kVlm;
  vlm.sees_whole_images = true;
  EXPECT_EQ(merge_images(Rows().microbatch(7), vlm, 7).seen_until,
            (std::vector<std::int64_t>{0, 4, 4, 4, 4, 5, 6, 0, 1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(merge_images(Rows().microbatch(3), vlm, 3).seen_until,
            (std::vector<std::int64_t>{0, 2, 2, 0, 1, 2}));
}

/// Two texts of one row, one ends with an image and the other begins with one.
TEST(ImageMerging, ImagesOfTwoTextsEndApart) {
  Rows rows;
  rows.tokens = {7, -200, -200, 5, 6, 8};
  rows.images = {2, 0};
  rows.tiles = {1, 1};
  rows.pixels.resize(24);
  config::VlmConfig vlm = kVlm;
  vlm.sees_whole_images = true;
  HostMicrobatch microbatch = rows.microbatch(9);
  const std::vector<std::int64_t> one = merge_images(microbatch, vlm, 9).seen_until;
  EXPECT_EQ(std::vector(one.begin(), one.begin() + 9),
            (std::vector<std::int64_t>{0, 8, 8, 8, 8, 8, 8, 8, 8}));
  const std::vector<std::int64_t> segments = {0, 0, 1, 0, 0, 0};
  microbatch.columns.set(kSegments, segments);
  const std::vector<std::int64_t> two = merge_images(microbatch, vlm, 9).seen_until;
  EXPECT_EQ(std::vector(two.begin(), two.begin() + 9),
            (std::vector<std::int64_t>{0, 4, 4, 4, 4, 8, 8, 8, 8}));
}

/// Of two samples, one of them without an image; a slice has its own positions.
TEST(ImageMerging, PositionsOfAnImageStandAtRowsAndColumns) {
  EXPECT_TRUE(merge_images(Rows().microbatch(7), kVlm, 7).axis_places.empty());
  const std::vector<std::int64_t> all =
      merge_images(Rows().microbatch(7), kVlm, 7, {.has_axes = true}).axis_places;
  ASSERT_EQ(all.size(), 42U);
  const auto axis = [&](std::ptrdiff_t which) {
    return std::vector(all.begin() + 14 * which, all.begin() + 14 * (which + 1));
  };
  EXPECT_EQ(row(axis(0), 0), (std::vector<std::int64_t>{0, 1, 1, 1, 1, 3, 4}));
  EXPECT_EQ(row(axis(1), 0), (std::vector<std::int64_t>{0, 1, 1, 2, 2, 3, 4}));
  EXPECT_EQ(row(axis(2), 0), (std::vector<std::int64_t>{0, 1, 2, 1, 2, 3, 4}));
  for (const std::ptrdiff_t each : {0, 1, 2}) {
    EXPECT_EQ(row(axis(each), 1), (std::vector<std::int64_t>{0, 1, 2, 3, 4, 5, 6}));
  }
  const MergedRows half = merge_images(
      Rows().microbatch(7), kVlm, 7,
      {.slice = {.map = {.split = 0, .offset = {3, 3}}, .length = 3}, .has_axes = true});
  EXPECT_EQ(row(half.axis_places, 0), (std::vector<std::int64_t>{1, 1, 3, 2, 2, 3, 1, 2, 3}));
}

TEST(ImageMerging, ImagesWithoutAPlaceAreRefused) {
  Rows rows;
  rows.images = {0, 1};
  EXPECT_THROW(merge_images(rows.microbatch(7), kVlm, 7), Error);
}

}  // namespace image_merging_test

}  // namespace mpitron::models

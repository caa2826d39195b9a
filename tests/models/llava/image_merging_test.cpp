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

TEST(ImageMerging, ImagesWithoutAPlaceAreRefused) {
  Rows rows;
  rows.images = {0, 1};
  EXPECT_THROW(merge_images(rows.microbatch(7), kVlm, 7), Error);
}

}  // namespace image_merging_test

}  // namespace mpitron::models

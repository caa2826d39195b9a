#include "models/llava/llava_batch.h"

#include <gtest/gtest.h>

#include "models/llava/image_rows.h"
#include "utils/error.h"

namespace mpitron::models {
namespace llava_batch_test {

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

/// Packed: what hides the other texts leaves an image's own positions open.
TEST(LlavaBatch, APackedImageSeesItself) {
  Rows rows;
  const std::vector<std::int64_t> segments = {0, 0, 1, 0, 0, 0};
  HostMicrobatch microbatch = rows.microbatch(7);
  microbatch.columns.set(kSegments, segments);
  const auto device = device::make_device("host");
  for (const bool whole : {false, true}) {
    config::VlmConfig vlm = kVlm;
    vlm.sees_whole_images = whole;
    const Batch batch = llava_batch(*device, microbatch, vlm);
    const std::uint8_t* const mask = batch[kAttentionMask].data<std::uint8_t>();  // [2, 7, 7]
    EXPECT_EQ(std::vector(mask + 7, mask + 14),
              whole ? (std::vector<std::uint8_t>{0, 0, 0, 0, 0, 1, 1})
                    : (std::vector<std::uint8_t>{0, 0, 1, 1, 1, 1, 1}));
    EXPECT_EQ(static_cast<bool>(batch[kSeenUntil]), whole);
  }
}

}  // namespace llava_batch_test

}  // namespace mpitron::models

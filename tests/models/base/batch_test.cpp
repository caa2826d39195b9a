#include "models/base/batch.h"

#include <gtest/gtest.h>

#include "support/tensors.h"

namespace mpitron::models {
namespace batch_test {

TEST(Batch, WhatItLacksIsAbsent) {
  const auto device = device::make_device("reference");
  Batch batch{{kTokens, test::make_ids(*device, {2, 1}, {3, 4})}};
  EXPECT_TRUE(std::as_const(batch)[kTokens]);
  EXPECT_FALSE(std::as_const(batch)[kLabels]);
  batch[kLabels] = batch[kTokens];
  EXPECT_TRUE(batch.find("labels"));
  EXPECT_EQ(batch.entries().size(), 2u);
}

TEST(ColumnUpload, TakesSequencesInPartAndOtherColumnsWhole) {
  const auto device = device::make_device("reference");
  const std::vector<std::int64_t> tokens{0, 1, 2, 3, 10, 11, 12, 13}, order{5, 6},
      padding{1, 1, 1, 0, 1, 1, 1, 1};
  const std::vector<float> mask{1, 2, 4, 8, 16, 32, 64, 128};
  const HostMicrobatch microbatch{
      .samples = 2,
      .sequence_length = 4,
      .columns = {{kTokens, tokens}, {kLabels, order}, {kLossMask, mask}, {kPaddingMask, padding}}};
  const ColumnUpload columns(*device, microbatch, zigzag_slice(4, 2, 1));
  using Values = std::vector<double>;
  EXPECT_EQ(test::values_of(columns.sequences(kTokens)), (Values{1, 11, 2, 12}));
  EXPECT_EQ(test::values_of(columns.positions()), (Values{1, 1, 2, 2}));
  EXPECT_EQ(columns.whole(kLabels).shape(), (Shape{1, 2}));
  EXPECT_EQ(columns.sum_of_sequences(kLossMask), 2 + 4 + 32 + 64);
  EXPECT_EQ(columns.sum_of_whole(kLossMask), 255);
  EXPECT_EQ(test::values_of(columns.hidden_keys(kPaddingMask)), (Values{0, 0, 0, 1, 0, 0, 0, 0}));
  EXPECT_FALSE(columns.sequences(kPositionIds));
}

}  // namespace batch_test
}  // namespace mpitron::models

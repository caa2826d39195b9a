#include "models/text_head/text_head_batch.h"

#include <gtest/gtest.h>

#include "models/bert/bert_batch.h"
#include "support/tensors.h"

namespace mpitron::models {
namespace text_head_batch_test {

using Values = std::vector<double>;

/// Two samples of two texts.
const std::vector<std::int64_t> kIds{1, 2, 0, 4, 5, 6, 7, 0, 0, 8, 9, 0}, kLast{1, 2, 0, 1},
    kRight{1, 0};
const std::vector<float> kWeights{1, 0};

TEST(TextHeadBatch, LabelsAreOfSamplesAndRowsOfTexts) {
  const auto device = device::make_device("reference");
  const Batch batch = text_head_batch(*device,
                                      {.samples = 4,
                                       .sequence_length = 3,
                                       .columns = {{kTokens, kIds},
                                                   {kLabels, kRight},
                                                   {kLossMask, kWeights},
                                                   {kLastTokens, kLast}}},
                                      {.map = {}, .length = 3}, {.outputs = 1, .choices = 2});
  EXPECT_EQ(batch[kTokens].shape(), (Shape{3, 4}));
  EXPECT_EQ(batch[kLabels].shape(), (Shape{1, 2}));
  EXPECT_EQ(test::values_of(batch[kLabels]), (Values{1, 0}));
  EXPECT_EQ(batch.loss_tokens, 1);
  EXPECT_EQ(test::values_of(batch[kReadRows]), (Values{4, 9, 2, 7}));
  EXPECT_EQ(test::values_of(batch[kReadFrom]),
            (Values{-1, -1, 2, -1, 0, -1, -1, 3, -1, 1, -1, -1}));
  EXPECT_FALSE(batch[kScores]);
  EXPECT_FALSE(batch[kAttentionMask]);
}

TEST(TextHeadBatch, ScoresOfAnEncoder) {
  const auto device = device::make_device("reference");
  const std::vector<std::int64_t> padding{1, 1, 0, 1, 1, 1}, types{0, 1, 0, 0, 0, 1};
  const std::vector<float> scores{0.5, 4};
  const Batch batch = text_head_batch(*device,
                                      {.samples = 2,
                                       .sequence_length = 3,
                                       .columns = {{kTokens, padding},
                                                   {kLabels, kRight},
                                                   {kLossMask, kWeights},
                                                   {kScores, scores},
                                                   {kPaddingMask, padding},
                                                   {kTokenTypes, types}}},
                                      {.map = {}, .length = 3}, {.outputs = 1, .score = true});
  EXPECT_EQ(batch[kScores].shape(), (Shape{1, 2, 1}));
  EXPECT_EQ(test::values_of(batch[kScores]), (Values{0.5, 4}));
  EXPECT_EQ(test::values_of(batch[kAttentionMask]), (Values{0, 0, 1, 0, 0, 0}));
  EXPECT_EQ(test::values_of(batch[kTokenTypes]), (Values{0, 0, 1, 0, 0, 1}));
  EXPECT_FALSE(batch[kReadRows]);
}

}  // namespace text_head_batch_test
}  // namespace mpitron::models

#include "models/bert/bert_batch.h"

#include <gtest/gtest.h>

#include "support/tensors.h"

namespace mpitron::models {
namespace bert_batch_test {

TEST(BertBatch, HidesPaddingAndHasTheParts) {
  const auto device = device::make_device("reference");
  const std::vector<std::int64_t> tokens{1, 2, 0, 4, 5, 6}, padding{1, 1, 0, 1, 1, 1},
      types{0, 1, 0, 0, 1, 1}, order{1, 0};
  const std::vector<float> mask{1, 0, 0, 0, 1, 1};
  const Batch batch = bert_batch(*device,
                                 {.samples = 2,
                                  .sequence_length = 3,
                                  .columns = {{kTokens, tokens},
                                              {kLabels, tokens},
                                              {kLossMask, mask},
                                              {kPaddingMask, padding},
                                              {kTokenTypes, types},
                                              {kSentenceOrder, order}}},
                                 {.map = {}, .length = 3});
  using Values = std::vector<double>;
  EXPECT_EQ(batch[kAttentionMask].shape(), (Shape{2, 1, 3}));
  EXPECT_EQ(test::values_of(batch[kAttentionMask]), (Values{0, 0, 1, 0, 0, 0}));
  EXPECT_EQ(test::values_of(batch[kTokenTypes]), (Values{0, 0, 1, 1, 0, 1}));
  EXPECT_EQ(batch[kSentenceOrder].shape(), (Shape{1, 2}));
  EXPECT_EQ(test::values_of(batch[kSentenceOrder]), (Values{1, 0}));
  EXPECT_EQ(batch.loss_tokens, 3);
}

}  // namespace bert_batch_test
}  // namespace mpitron::models

#include "models/t5/t5_batch.h"

#include <gtest/gtest.h>

#include "support/tensors.h"

namespace mpitron::models {
namespace t5_batch_test {

TEST(T5Batch, KeepsTheDecodersLength) {
  const auto device = device::make_device("reference");
  const std::vector<std::int64_t> tokens{1, 2, 0, 4, 5, 6}, padding{1, 1, 0, 1, 1, 1},
      decoder{7, 0, 8, 9}, decoder_padding{1, 0, 1, 1};
  const std::vector<float> mask{1, 0, 1, 1};
  const Batch batch = t5_batch(*device,
                               {.samples = 2,
                                .sequence_length = 3,
                                .columns = {{kTokens, tokens},
                                            {kLabels, decoder},
                                            {kLossMask, mask},
                                            {kPaddingMask, padding},
                                            {kDecoderTokens, decoder},
                                            {kDecoderPaddingMask, decoder_padding}}},
                               {.map = {}, .length = 3});
  using Values = std::vector<double>;
  EXPECT_EQ(test::values_of(batch[kAttentionMask]), (Values{0, 0, 1, 0, 0, 0}));
  EXPECT_EQ(test::values_of(batch[kLabels]), (Values{7, 8, 0, 9}));
  EXPECT_EQ(test::values_of(batch[kDecoderTokens]), (Values{7, 8, 0, 9}));
  EXPECT_EQ(test::values_of(batch[kDecoderPositionIds]), (Values{0, 0, 1, 1}));
  EXPECT_EQ(test::values_of(batch[kDecoderAttentionMask]), (Values{0, 1, 0, 0}));
  EXPECT_EQ(batch.loss_tokens, 3);
}

}  // namespace t5_batch_test
}  // namespace mpitron::models

#include "train/microbatch.h"

#include <gtest/gtest.h>

#include "support/tensors.h"

namespace mpitron::train {
namespace {

TEST(Upload, PutsTheSequenceFirst) {
  const auto device = device::make_device("reference");
  const std::vector<std::int64_t> tokens{1, 2, 3, 4, 5, 6}, labels{2, 3, 4, 5, 6, 7},
      positions{0, 1, 2, 0, 1, 2};
  const std::vector<float> mask{1, 1, 0, 1, 0.5f, 0};
  const DeviceMicrobatch uploaded = upload(*device, {.samples = 2,
                                                     .sequence_length = 3,
                                                     .tokens = tokens,
                                                     .labels = labels,
                                                     .position_ids = positions,
                                                     .loss_mask = mask,
                                                     .attention_mask = {},
                                                     .first_sample = 40});
  const auto ids = [](const tensor::Tensor& x) {
    EXPECT_EQ(x.shape(), (Shape{3, 2}));
    const auto* at = x.data<std::int64_t>();
    return std::vector<std::int64_t>(at, at + x.numel());
  };
  EXPECT_EQ(ids(uploaded.batch.tokens), (std::vector<std::int64_t>{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(ids(uploaded.batch.labels), (std::vector<std::int64_t>{2, 5, 3, 6, 4, 7}));
  EXPECT_EQ(ids(uploaded.batch.position_ids), (std::vector<std::int64_t>{0, 0, 1, 1, 2, 2}));
  EXPECT_EQ(testing::values_of(uploaded.loss_mask), (std::vector<double>{1, 1, 1, 0.5, 0, 0}));
  EXPECT_EQ(uploaded.loss_tokens, 3.5);
  EXPECT_EQ(uploaded.first_sample, 40);
  EXPECT_FALSE(uploaded.batch.attention_mask);
}

TEST(Upload, KeepsAttentionMasksBySample) {
  const auto device = device::make_device("reference");
  const std::vector<std::int64_t> ids{1, 2, 3, 4};
  const std::vector<float> mask(4, 1.f);
  const std::vector<std::uint8_t> hidden{0, 1, 0, 0, 0, 1, 1, 0};
  const DeviceMicrobatch uploaded = upload(*device, {.samples = 2,
                                                     .sequence_length = 2,
                                                     .tokens = ids,
                                                     .labels = ids,
                                                     .position_ids = ids,
                                                     .loss_mask = mask,
                                                     .attention_mask = hidden,
                                                     .first_sample = 0});
  const tensor::Tensor& there = uploaded.batch.attention_mask;
  EXPECT_EQ(there.shape(), (Shape{2, 2, 2}));
  const auto* at = there.data<std::uint8_t>();
  EXPECT_EQ(std::vector<std::uint8_t>(at, at + 8), hidden);
}

}  // namespace
}  // namespace mpitron::train

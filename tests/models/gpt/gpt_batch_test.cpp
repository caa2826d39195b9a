#include "models/gpt/gpt_batch.h"

#include <gtest/gtest.h>

#include "support/golden_tables.h"
#include "support/tensors.h"

namespace mpitron::models {
namespace gpt_batch_test {

SequenceSlice whole(Index length) {
  return {.map = {}, .length = length};
}

TEST(GptBatch, PutsTheSequenceFirst) {
  const auto device = device::make_device("reference");
  const std::vector<std::int64_t> tokens{1, 2, 3, 4, 5, 6}, labels{2, 3, 4, 5, 6, 7},
      positions{0, 1, 2, 0, 1, 2};
  const std::vector<float> mask{1, 1, 0, 1, 0.5f, 0};
  const Batch batch = gpt_batch(*device,
                                {.samples = 2,
                                 .sequence_length = 3,
                                 .columns = {{kTokens, tokens},
                                             {kLabels, labels},
                                             {kPositionIds, positions},
                                             {kLossMask, mask}}},
                                whole(3));
  const auto ids = [](const tensor::Tensor& x) {
    EXPECT_EQ(x.shape(), (Shape{3, 2}));
    const auto* at = x.data<std::int64_t>();
    return std::vector<std::int64_t>(at, at + x.numel());
  };
  EXPECT_EQ(ids(batch[kTokens]), (std::vector<std::int64_t>{1, 4, 2, 5, 3, 6}));
  EXPECT_EQ(ids(batch[kLabels]), (std::vector<std::int64_t>{2, 5, 3, 6, 4, 7}));
  EXPECT_EQ(ids(batch[kPositionIds]), (std::vector<std::int64_t>{0, 0, 1, 1, 2, 2}));
  EXPECT_EQ(test::values_of(batch[kLossMask]), (std::vector<double>{1, 1, 1, 0.5, 0, 0}));
  EXPECT_EQ(batch.loss_tokens, 3.5);
  EXPECT_FALSE(batch[kAttentionMask]);
}

TEST(GptBatch, KeepsAttentionMasksBySample) {
  const auto device = device::make_device("reference");
  const std::vector<std::int64_t> ids{1, 2, 3, 4};
  const std::vector<float> mask(4, 1.f);
  const std::vector<std::uint8_t> hidden{0, 1, 0, 0, 0, 1, 1, 0};
  const Batch batch = gpt_batch(
      *device,
      {.samples = 2,
       .sequence_length = 2,
       .columns = {{kTokens, ids}, {kLabels, ids}, {kLossMask, mask}, {kAttentionMask, hidden}}},
      whole(2));
  const tensor::Tensor& there = batch[kAttentionMask];
  EXPECT_EQ(there.shape(), (Shape{2, 2, 2}));
  const auto* at = there.data<std::uint8_t>();
  EXPECT_EQ(std::vector<std::uint8_t>(at, at + 8), hidden);
}

TEST(GptBatch, CountsPositionsWhereNoneAreGiven) {
  const auto device = device::make_device("reference");
  const std::vector<std::int64_t> ids{1, 2, 3, 4};
  const std::vector<float> mask(4, 1.f);
  const HostMicrobatch microbatch{.samples = 1,
                                  .sequence_length = 4,
                                  .columns = {{kTokens, ids}, {kLabels, ids}, {kLossMask, mask}}};
  const Batch batch = gpt_batch(*device, microbatch, zigzag_slice(4, 2, 1));
  EXPECT_EQ(test::values_of(batch[kPositionIds]), (std::vector<double>{1, 2}));
}

/// Rows of the reference's table of slices, of two samples whose tokens are their positions.
TEST(GptBatch, GivesARankItsZigzagSlice) {
  const auto device = device::make_device("reference");
  for (const auto& row : test::golden_table("context_parallel_slices")) {
    const Index s = row.at("sequence"), ranks = row.at("cp");
    std::vector<std::int64_t> ids;
    std::vector<float> mask;
    std::vector<std::uint8_t> hidden;
    for (Index sample = 0; sample < 2; ++sample) {
      for (Index i = 0; i < s; ++i) {
        ids.push_back(sample * 100 + i);
        mask.push_back(static_cast<float>(i));
        hidden.insert(hidden.end(), static_cast<std::size_t>(s),
                      static_cast<std::uint8_t>(sample * 100 + i));
      }
    }
    for (Index rank = 0; rank < ranks; ++rank) {
      const auto& expected = row.at("ranks").at(static_cast<std::size_t>(rank));
      const SequenceSlice slice = zigzag_slice(s, ranks, rank);
      const Batch got = gpt_batch(*device,
                                  {.samples = 2,
                                   .sequence_length = s,
                                   .columns = {{kTokens, ids},
                                               {kLabels, ids},
                                               {kPositionIds, ids},
                                               {kLossMask, mask},
                                               {kAttentionMask, hidden}}},
                                  slice);
      const Index length = 2 * s / (2 * ranks);
      ASSERT_EQ(slice.length, length);
      EXPECT_EQ(got[kAttentionMask].shape(), (Shape{2, length, s}));
      double weights = 0;
      for (Index i = 0; i < length; ++i) {
        const Index at = expected.at("tokens").at(static_cast<std::size_t>(i));
        const std::int64_t mask_row =
            expected.at("attention_mask_rows").at(static_cast<std::size_t>(i));
        EXPECT_EQ(slice.map(i), at);
        for (Index sample = 0; sample < 2; ++sample) {
          const Index element = i * 2 + sample;
          EXPECT_EQ(got[kTokens].data<std::int64_t>()[element], sample * 100 + at);
          EXPECT_EQ(got[kLabels].data<std::int64_t>()[element], sample * 100 + at);
          EXPECT_EQ(got[kPositionIds].data<std::int64_t>()[element], sample * 100 + at);
          EXPECT_EQ(got[kLossMask].data<float>()[element], static_cast<float>(at));
          const std::uint8_t* mask_data = got[kAttentionMask].data<std::uint8_t>();
          EXPECT_EQ(mask_data[(sample * length + i) * s + s - 1], sample * 100 + mask_row);
          weights += static_cast<double>(at);
        }
      }
      EXPECT_EQ(got.loss_tokens, weights);
    }
  }
}

}  // namespace gpt_batch_test
}  // namespace mpitron::models

#include "train/batches/microbatch.h"

#include <gtest/gtest.h>

#include "support/golden_tables.h"
#include "support/tensors.h"

namespace mpitron::train {
namespace microbatch_test {

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
  EXPECT_EQ(test::values_of(uploaded.batch.loss_mask), (std::vector<double>{1, 1, 1, 0.5, 0, 0}));
  EXPECT_EQ(uploaded.batch.loss_tokens, 3.5);
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

TEST(Upload, CountsPositionsWhereNoneAreGiven) {
  const auto device = device::make_device("reference");
  const std::vector<std::int64_t> ids{1, 2, 3, 4};
  const std::vector<float> mask(4, 1.f);
  const HostMicrobatch microbatch{.samples = 1,
                                  .sequence_length = 4,
                                  .tokens = ids,
                                  .labels = ids,
                                  .position_ids = {},
                                  .loss_mask = mask,
                                  .attention_mask = {}};
  EXPECT_EQ(
      test::values_of(upload(*device, microbatch, {.ranks = 2, .rank = 1}).batch.position_ids),
      (std::vector<double>{1, 2}));
}

TEST(Upload, TurnsPaddingIntoHiddenKeysAndKeepsTheDecodersLength) {
  const auto device = device::make_device("reference");
  const std::vector<std::int64_t> tokens{1, 2, 0, 4, 5, 6}, padding{1, 1, 0, 1, 1, 1},
      decoder{7, 0, 8, 9}, decoder_padding{1, 0, 1, 1}, types{0, 1, 0, 0, 1, 1}, order{1, 0};
  const std::vector<float> mask{1, 0, 1, 1};
  const models::Batch batch = upload(*device, {.samples = 2,
                                               .sequence_length = 3,
                                               .tokens = tokens,
                                               .labels = decoder,
                                               .position_ids = {},
                                               .loss_mask = mask,
                                               .attention_mask = {},
                                               .first_sample = 0,
                                               .padding_mask = padding,
                                               .token_types = types,
                                               .sentence_order = order,
                                               .decoder_tokens = decoder,
                                               .decoder_padding_mask = decoder_padding})
                                  .batch;
  using Values = std::vector<double>;
  EXPECT_EQ(batch.attention_mask.shape(), (Shape{2, 1, 3}));
  EXPECT_EQ(test::values_of(batch.attention_mask), (Values{0, 0, 1, 0, 0, 0}));
  EXPECT_EQ(test::values_of(batch.token_types), (Values{0, 0, 1, 1, 0, 1}));
  EXPECT_EQ(batch.sentence_order.shape(), (Shape{1, 2}));
  EXPECT_EQ(test::values_of(batch.sentence_order), (Values{1, 0}));
  EXPECT_EQ(test::values_of(batch.labels), (Values{7, 8, 0, 9}));
  EXPECT_EQ(test::values_of(batch.decoder_tokens), (Values{7, 8, 0, 9}));
  EXPECT_EQ(test::values_of(batch.decoder_position_ids), (Values{0, 0, 1, 1}));
  EXPECT_EQ(test::values_of(batch.decoder_attention_mask), (Values{0, 1, 0, 0}));
  EXPECT_EQ(batch.loss_tokens, 3);
}

/// Rows of the reference's table of slices, of two samples whose tokens are their positions.
TEST(Upload, GivesARankItsZigzagSlice) {
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
      const DeviceMicrobatch got = upload(*device,
                                          {.samples = 2,
                                           .sequence_length = s,
                                           .tokens = ids,
                                           .labels = ids,
                                           .position_ids = ids,
                                           .loss_mask = mask,
                                           .attention_mask = hidden},
                                          {.ranks = ranks, .rank = rank});
      const Index length = 2 * s / (2 * ranks);
      ASSERT_EQ(got.sequence_length, length);
      EXPECT_EQ(got.batch.attention_mask.shape(), (Shape{2, length, s}));
      double weights = 0;
      for (Index i = 0; i < length; ++i) {
        const Index at = expected.at("tokens").at(static_cast<std::size_t>(i));
        const std::int64_t mask_row =
            expected.at("attention_mask_rows").at(static_cast<std::size_t>(i));
        EXPECT_EQ(got.positions(i), at);
        for (Index sample = 0; sample < 2; ++sample) {
          const Index element = i * 2 + sample;
          EXPECT_EQ(got.batch.tokens.data<std::int64_t>()[element], sample * 100 + at);
          EXPECT_EQ(got.batch.labels.data<std::int64_t>()[element], sample * 100 + at);
          EXPECT_EQ(got.batch.position_ids.data<std::int64_t>()[element], sample * 100 + at);
          EXPECT_EQ(got.batch.loss_mask.data<float>()[element], static_cast<float>(at));
          const std::uint8_t* mask_data = got.batch.attention_mask.data<std::uint8_t>();
          EXPECT_EQ(mask_data[(sample * length + i) * s + s - 1], sample * 100 + mask_row);
          weights += static_cast<double>(at);
        }
      }
      EXPECT_EQ(got.batch.loss_tokens, weights);
    }
  }
}

}  // namespace microbatch_test
}  // namespace mpitron::train

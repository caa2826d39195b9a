#include "data/gpt/gpt_index.h"

#include <algorithm>
#include <numeric>

#include <gtest/gtest.h>

namespace mpitron::data {
namespace gpt_index_test {

/// Sequences of 5, 1, 4 and 2 tokens; 12 in all.
struct Corpus {
  std::vector<std::int32_t> lengths = {5, 1, 4, 2};
  GptIndexRequest request{.lengths = {std::as_bytes(std::span(lengths)).data(), 4},
                          .end = 4,
                          .seq_length = 3,
                          .seed = 1};
};

/// More documents than one thread takes at a time, some of them empty or of many samples.
TEST(GptIndex, ManyDocumentsGiveWhatALoopGives) {
  constexpr Index kDocuments = 150'000;
  std::vector<std::int32_t> lengths(kDocuments);
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    lengths[i] = static_cast<std::int32_t>(i % 5 == 0 ? 0 : i % 1000 == 1 ? 400 : i % 17);
  }
  const GptIndexRequest request{.lengths = {std::as_bytes(std::span(lengths)).data(), kDocuments},
                                .end = kDocuments,
                                .seq_length = 32};
  const GptIndexPlan plan = plan_gpt_index(request);
  RandomState random(3);
  const auto documents = build_document_index<std::int32_t>(request, plan, random);
  const auto index = build_sample_index<std::int32_t>(request, plan, std::span(documents));
  ASSERT_EQ(std::ssize(index), 2 * (plan.samples + 1));
  std::size_t row = 0;
  Index token = 0;  // of the stream of documents
  for (std::size_t d = 0; d < documents.size(); ++d) {
    const Index length = lengths[static_cast<std::size_t>(documents[d])];
    for (; static_cast<Index>(row) <= plan.samples && static_cast<Index>(row) * 32 < token + length;
         ++row) {
      ASSERT_EQ(index[2 * row], row == 0 ? 0 : static_cast<Index>(d)) << row;
      ASSERT_EQ(index[2 * row + 1], row == 0 ? 0 : static_cast<Index>(row) * 32 - token) << row;
    }
    token += length;
  }
  EXPECT_EQ(static_cast<Index>(row), plan.samples + 1);
}

TEST(GptIndex, PlansOneEpochWithoutAWish) {
  const Corpus corpus;
  const GptIndexPlan plan = plan_gpt_index(corpus.request);
  EXPECT_EQ(plan.tokens_per_epoch, 12);
  EXPECT_EQ(plan.epochs, 1);
  EXPECT_EQ(plan.samples, 3);  // (12 - 1) / 3: neighbours share a token
  EXPECT_FALSE(plan.separate_final_epoch);
}

TEST(GptIndex, PlansAsManyEpochsAsTheSamplesNeed) {
  Corpus corpus;
  corpus.request.num_samples = 8;  // 2 epochs have (24 - 1) / 3 = 7, 3 have 11
  const GptIndexPlan plan = plan_gpt_index(corpus.request);
  EXPECT_EQ(plan.epochs, 3);
  EXPECT_EQ(plan.samples, 11);
  EXPECT_EQ(plan.samples_sans_final, 7);
  EXPECT_TRUE(plan.separate_final_epoch);  // 1 sample of the last epoch: below int(80 % of 3)
  corpus.request.num_samples = 9;
  EXPECT_FALSE(plan_gpt_index(corpus.request).separate_final_epoch);
}

TEST(GptIndex, EveryEpochReadsEverySequence) {
  Corpus corpus;
  corpus.request.num_samples = 8;
  const GptIndexPlan plan = plan_gpt_index(corpus.request);
  RandomState random(1);
  auto documents = build_document_index<std::int32_t>(corpus.request, plan, random);
  ASSERT_EQ(documents.size(), 12U);
  // The final epoch is shuffled on its own: it holds every sequence once.
  std::sort(documents.begin() + 8, documents.end());
  EXPECT_EQ(std::vector(documents.begin() + 8, documents.end()),
            (std::vector<std::int32_t>{0, 1, 2, 3}));
  std::sort(documents.begin(), documents.begin() + 8);
  EXPECT_EQ(std::vector(documents.begin(), documents.begin() + 8),
            (std::vector<std::int32_t>{0, 0, 1, 1, 2, 2, 3, 3}));
}

TEST(GptIndex, SamplesBeginWhereTheLastOneEnded) {
  const Corpus corpus;
  const GptIndexPlan plan = plan_gpt_index(corpus.request);
  const std::vector<std::int32_t> documents = {0, 1, 2, 3};
  const auto samples = build_sample_index<std::int32_t>(corpus.request, plan,
                                                        std::span<const std::int32_t>(documents));
  // Token offsets 0, 3, 6, 9 of the sequences of 5, 1, 4, 2 tokens laid end to end.
  EXPECT_EQ(samples, (std::vector<std::int32_t>{0, 0, 0, 3, 2, 0, 2, 3}));
}

TEST(GptIndex, ShufflesTheFinalEpochOnItsOwn) {
  Corpus corpus;
  corpus.request.num_samples = 8;
  const GptIndexPlan plan = plan_gpt_index(corpus.request);
  RandomState random(1);
  auto order = build_shuffle_index<std::uint32_t>(plan, random);
  ASSERT_EQ(order.size(), 11U);
  const auto is_range = [](std::vector<std::uint32_t> part, std::uint32_t first) {
    std::sort(part.begin(), part.end());
    std::vector<std::uint32_t> expected(part.size());
    std::iota(expected.begin(), expected.end(), first);
    return part == expected;
  };
  EXPECT_TRUE(is_range({order.begin(), order.begin() + 7}, 0));
  EXPECT_TRUE(is_range({order.begin() + 7, order.end()}, 7));
}

}  // namespace gpt_index_test
}  // namespace mpitron::data

#include "data/gpt/packed_sft_dataset.h"

#include <gtest/gtest.h>

#include "support/corpus.h"

namespace mpitron::data {
namespace packed_sft_dataset_test {

using Tokens = std::vector<std::int64_t>;

/// A character a token; those of the assistant are learned.
EncodedConversation encode(const Conversation& conversation) {
  EncodedConversation encoded;
  for (const tokenizers::ChatMessage& message : conversation) {
    for (const char c : message.content) {
      encoded.tokens.push_back(c);
      encoded.targets.push_back(message.role == "assistant" ? c : EncodedConversation::kNotLearned);
    }
  }
  return encoded;
}

class PackedSftTest : public ::testing::Test {
 protected:
  PackedSftTest() {
    test::write_bytes(folder_ / "x.jsonl", R"({"prompt": "ab", "completion": "c"})"
                                           "\n"
                                           R"({"prompt": "d", "completion": "efghijklmn"})"
                                           "\n"
                                           R"({"prompt": "p", "completion": "q"})"
                                           "\n");
  }
  PackedSftDataset dataset(std::optional<Index> num_samples = {}) const {
    SftDatasetOptions options{.end = 3, .eod = 7, .pad = 0};
    options.description.num_samples = num_samples;
    options.description.seq_length = 8;
    return {std::make_shared<const ConversationFile>(folder_ / "x.jsonl"), options, encode, 2};
  }
  void read(const PackedSftDataset& from, Index sample) {
    from.read_row(sample, {.seq_length = 8, .create_attention_mask = true, .pad = 0}, text_,
                  {tokens_, labels_, mask_, positions_, attention_});
  }

  test::TemporaryFolder folder_;
  Tokens text_ = Tokens(9), tokens_ = Tokens(8), labels_ = Tokens(8), positions_ = Tokens(8);
  std::vector<float> mask_ = std::vector<float>(8);
  std::vector<std::uint8_t> attention_ = std::vector<std::uint8_t>(64);
};

TEST_F(PackedSftTest, ConversationsLieOneBehindTheOther) {
  const PackedSftDataset packed = dataset();
  ASSERT_EQ(packed.size(), 2);
  read(packed, 0);
  EXPECT_EQ(tokens_, (Tokens{'a', 'b', 'c', 7, 'p', 'q', 7, 0}));
  EXPECT_EQ(labels_, (Tokens{0, 'c', 7, 0, 'q', 7, 0, 0}));
  EXPECT_EQ(mask_, (std::vector<float>{0, 1, 1, 0, 1, 1, 0, 0}));
  EXPECT_EQ(positions_, (Tokens{0, 1, 2, 3, 0, 1, 2, 0}));
  Tokens whole(9);
  packed.read(0, whole);
  EXPECT_EQ(whole, (Tokens{'a', 'b', 'c', 7, 'p', 'q', 7, 0, 0}));
}

TEST_F(PackedSftTest, TheyDoNotSeeEachOther) {
  read(dataset(), 0);
  const std::size_t segment[] = {0, 0, 0, 0, 1, 1, 1, 2};
  for (std::size_t query = 0; query < 8; ++query) {
    for (std::size_t key = 0; key < 8; ++key) {
      const bool seen = key <= query && segment[key] == segment[query];
      EXPECT_EQ(attention_[query * 8 + key], seen ? 0 : 1) << query << ' ' << key;
    }
  }
}

TEST_F(PackedSftTest, ALongOneIsCutAndHasARowOfItsOwn) {
  read(dataset(), 1);
  EXPECT_EQ(tokens_, (Tokens{'d', 'e', 'f', 'g', 'h', 'i', 'j', 7}));
  EXPECT_EQ(labels_, (Tokens{'e', 'f', 'g', 'h', 'i', 'j', 7, 0}));
}

TEST_F(PackedSftTest, RowsBeginAgainBehindTheLast) {
  const PackedSftDataset packed = dataset(5);
  EXPECT_EQ(packed.size(), 5);
  read(packed, 4);
  EXPECT_EQ(tokens_[0], 'a');
  std::vector<SourceShare> shares;
  packed.add_shares(3, shares);
  ASSERT_EQ(shares.size(), 1U);
  EXPECT_EQ(shares[0].sequences, 3);
  EXPECT_EQ(shares[0].epochs, 3);
}

}  // namespace packed_sft_dataset_test
}  // namespace mpitron::data

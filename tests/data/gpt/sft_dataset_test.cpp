#include "data/gpt/sft_dataset.h"

#include <gtest/gtest.h>

#include "support/corpus.h"

namespace mpitron::data {
namespace sft_dataset_test {

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

class SftTest : public ::testing::Test {
 protected:
  SftTest() {
    test::write_bytes(folder_ / "x.jsonl",
                      R"({"messages": [{"role": "user", "content": "ab"}, )"
                      R"({"role": "assistant", "content": "cd"}]})"
                      "\n\n"
                      R"({"messages": [{"role": "assistant", "content": "efghijklmn"}]})"
                      "\n");
    file_ = std::make_shared<const ConversationFile>(folder_ / "x.jsonl");
  }
  static SftDatasetOptions options(std::optional<Index> num_samples = {}) {
    SftDatasetOptions options{.end = 2, .eod = 7, .pad = 0};
    options.description.class_name = "SFTDataset";
    options.description.num_samples = num_samples;
    options.description.seq_length = 6;
    return options;
  }
  void read(const SftDataset& dataset, Index sample) {
    const GptSampleOptions rows{.seq_length = 6, .create_attention_mask = true, .pad = 0};
    dataset.read_row(sample, rows, text_, {tokens_, labels_, mask_, positions_, attention_});
  }

  test::TemporaryFolder folder_;
  std::shared_ptr<const ConversationFile> file_;
  Tokens text_ = Tokens(7), tokens_ = Tokens(6), labels_ = Tokens(6), positions_ = Tokens(6);
  std::vector<float> mask_ = std::vector<float>(6);
  std::vector<std::uint8_t> attention_ = std::vector<std::uint8_t>(36);
};

TEST_F(SftTest, PadsShiftsAndMasks) {
  const SftDataset dataset(file_, options(), encode);
  EXPECT_EQ(dataset.size(), 2);
  read(dataset, 0);
  EXPECT_EQ(tokens_, (Tokens{'a', 'b', 'c', 'd', 7, 0}));
  EXPECT_EQ(labels_, (Tokens{0, 'c', 'd', 7, 0, 0}));
  EXPECT_EQ(mask_, (std::vector<float>{0, 1, 1, 1, 0, 0}));
  EXPECT_EQ(positions_, (Tokens{0, 1, 2, 3, 4, 5}));
  for (std::size_t i = 0; i < 36; ++i) {
    EXPECT_EQ(attention_[i], i % 6 > i / 6 ? 1 : 0);  // causal
  }
  EXPECT_EQ(text_, (Tokens{'a', 'b', 'c', 'd', 7, 0, 0}));
}

TEST_F(SftTest, CutsLongConversationsBeforeTheEod) {
  const SftDataset dataset(file_, options(), encode);
  read(dataset, 1);
  EXPECT_EQ(tokens_, (Tokens{'e', 'f', 'g', 'h', 'i', 7}));
  EXPECT_EQ(labels_, (Tokens{'f', 'g', 'h', 'i', 7, 0}));
  EXPECT_EQ(mask_, (std::vector<float>{1, 1, 1, 1, 1, 0}));
}

TEST_F(SftTest, BeginsAgainBehindTheLastConversation) {
  SftDatasetOptions second = options(5);
  second.begin = 1;
  const SftDataset dataset(file_, second, encode);
  EXPECT_EQ(dataset.size(), 5);
  read(dataset, 4);
  EXPECT_EQ(tokens_[0], 'e');
  std::vector<SourceShare> shares;
  dataset.add_shares(3, shares);
  ASSERT_EQ(shares.size(), 1U);
  EXPECT_EQ(shares[0].sequences, 1);
  EXPECT_EQ(shares[0].epochs, 5);
  EXPECT_EQ(shares[0].used, 3);
}

TEST_F(SftTest, SaysWhatIsMissing) {
  const auto message = [&](const SftDatasetOptions& given) {
    return test::message_of([&] { SftDataset(file_, given, encode); });
  };
  SftDatasetOptions none = options();
  none.end = 0;
  EXPECT_NE(message(none).find("none of the 2 conversations"), std::string::npos);
  SftDatasetOptions unpadded = options();
  unpadded.pad = -1;
  EXPECT_NE(message(unpadded).find("padding"), std::string::npos);
}

}  // namespace sft_dataset_test
}  // namespace mpitron::data

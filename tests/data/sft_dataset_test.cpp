#include "data/sft_dataset.h"

#include <gtest/gtest.h>

#include "support/corpus.h"

namespace mpitron::data {
namespace {

using Tokens = std::vector<std::int64_t>;

/// A character a token; those of the assistant are learned.
EncodedConversation encode(const Conversation& conversation) {
  EncodedConversation encoded;
  for (const Message& message : conversation) {
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
  void read(const SftDataset& dataset, Index sample) {
    dataset.read(sample, {tokens_, labels_, mask_, positions_, {}});
  }

  test::TemporaryFolder folder_;
  std::shared_ptr<const ConversationFile> file_;
  Tokens tokens_ = Tokens(6), labels_ = Tokens(6), positions_ = Tokens(6);
  std::vector<float> mask_ = std::vector<float>(6);
};

TEST_F(SftTest, PadsShiftsAndMasks) {
  const SftDataset dataset(file_, {.end = 2, .seq_length = 6, .eod = 7, .pad = 0}, encode);
  EXPECT_EQ(dataset.size(), 2);
  read(dataset, 0);
  EXPECT_EQ(tokens_, (Tokens{'a', 'b', 'c', 'd', 7, 0}));
  EXPECT_EQ(labels_, (Tokens{-100, 'c', 'd', 7, 0, 0}));
  EXPECT_EQ(mask_, (std::vector<float>{0, 1, 1, 1, 0, 0}));
  EXPECT_EQ(positions_, (Tokens{0, 1, 2, 3, 4, 5}));
}

TEST_F(SftTest, CutsLongConversationsBeforeTheEod) {
  const SftDataset dataset(file_, {.end = 2, .seq_length = 6, .eod = 7, .pad = 0}, encode);
  read(dataset, 1);
  EXPECT_EQ(tokens_, (Tokens{'e', 'f', 'g', 'h', 'i', 7}));
  EXPECT_EQ(labels_, (Tokens{'f', 'g', 'h', 'i', 7, 0}));
  EXPECT_EQ(mask_, (std::vector<float>{1, 1, 1, 1, 1, 0}));
}

TEST_F(SftTest, BeginsAgainBehindTheLastConversation) {
  const SftDataset dataset(
      file_, {.begin = 1, .end = 2, .num_samples = 5, .seq_length = 6, .eod = 7, .pad = 0}, encode);
  EXPECT_EQ(dataset.size(), 5);
  read(dataset, 4);
  EXPECT_EQ(tokens_[0], 'e');
}

TEST_F(SftTest, SaysWhatIsMissing) {
  const auto make = [&](SftDatasetOptions options) {
    return test::message_of([&] { SftDataset(file_, options, encode); });
  };
  EXPECT_NE(make({.seq_length = 6}).find("none of the 2 conversations"), std::string::npos);
  EXPECT_NE(make({.end = 2, .seq_length = 6, .pad = -1}).find("padding"), std::string::npos);
}

}  // namespace
}  // namespace mpitron::data

#include "data/gpt/pair_dataset.h"

#include <gtest/gtest.h>

#include "support/corpus.h"
#include "utils/error.h"

namespace mpitron::data {
namespace pair_dataset_test {

using Tokens = std::vector<std::int64_t>;
using Weights = std::vector<float>;

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

class PairDatasetTest : public ::testing::Test {
 protected:
  PairDataset dataset(const std::string& lines, bool by_length = false, Index length = 10) const {
    test::write_bytes(folder_ / "x.jsonl", lines);
    const auto file = std::make_shared<const ConversationFile>(folder_ / "x.jsonl");
    SftDatasetOptions options{.end = file->size(), .eod = 7, .pad = 0};
    options.description.seq_length = length;
    return {file, options, encode, by_length};
  }
  void read(const PairDataset& from, Index sample) {
    from.read_row(sample, {.seq_length = 10, .create_attention_mask = true, .pad = 0}, text_,
                  {tokens_, labels_, weights_, positions_, attention_});
  }
  std::string problem(const std::string& line) const {
    return test::message_of([&] {
      const PairDataset pairs = dataset(line);
      Tokens text(11);
      pairs.read(0, text);
    });
  }

  test::TemporaryFolder folder_;
  Tokens text_ = Tokens(11), tokens_ = Tokens(10), labels_ = Tokens(10), positions_ = Tokens(10);
  Weights weights_ = Weights(10);
  std::vector<std::uint8_t> attention_ = std::vector<std::uint8_t>(100);
};

constexpr const char* kPair = R"({"prompt": "q", "chosen": "ab", "rejected": "c"})";

TEST_F(PairDatasetTest, BothAnswersShareARow) {
  read(dataset(kPair), 0);
  EXPECT_EQ(tokens_, (Tokens{'q', 'a', 'b', 7, 'q', 'c', 7, 0, 0, 0}));
  EXPECT_EQ(labels_, (Tokens{'a', 'b', 7, 0, 'c', 7, 0, 0, 0, 0}));
  EXPECT_EQ(weights_, (Weights{1, 1, 1, 0, -1, -1, 0, 0, 0, 0}));
  EXPECT_EQ(positions_, (Tokens{0, 1, 2, 3, 0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(attention_[4 * 10 + 3], 1);  // the second does not see the first
  EXPECT_EQ(attention_[4 * 10 + 4], 0);
}

TEST_F(PairDatasetTest, WeightsMayBeMeans) {
  read(dataset(kPair, true), 0);
  EXPECT_EQ(weights_, (Weights{1 / 3.f, 1 / 3.f, 1 / 3.f, 0, -.5f, -.5f, 0, 0, 0, 0}));
}

TEST_F(PairDatasetTest, TheLongerOneIsCutFirst) {
  read(dataset(R"({"prompt": "q", "chosen": "abcdefghijkl", "rejected": "c"})"), 0);
  EXPECT_EQ(tokens_, (Tokens{'q', 'a', 'b', 'c', 'd', 'e', 7, 'q', 'c', 7}));
  read(dataset(R"({"prompt": "q", "chosen": "abcdefghi", "rejected": "rstuvwxy"})"), 0);
  EXPECT_EQ(tokens_, (Tokens{'q', 'a', 'b', 'c', 7, 'q', 'r', 's', 't', 7}));
}

TEST_F(PairDatasetTest, KnowsTheUsualForms) {
  for (
      const char* line :
      {R"({"prompt": [{"role": "user", "content": "q"}], )"
       R"("chosen": [{"role": "assistant", "content": "ab"}], )"
       R"("rejected": {"role": "assistant", "content": "c"}})",
       R"({"chosen": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "ab"}], )"
       R"("rejected": [{"role": "user", "content": "q"}, {"role": "assistant", "content": "c"}]})",
       R"({"conversations": [{"from": "human", "value": "q"}], )"
       R"("chosen": {"from": "gpt", "value": "ab"}, "rejected": {"from": "gpt", "value": "c"}})"}) {
    read(dataset(line), 0);
    EXPECT_EQ(tokens_, (Tokens{'q', 'a', 'b', 7, 'q', 'c', 7, 0, 0, 0})) << line;
  }
}

TEST_F(PairDatasetTest, TellsWhatIsWrongAndWhere) {
  EXPECT_NE(problem(R"({"prompt": "q", "completion": "a"})").find("\"chosen\" is missing"),
            std::string::npos);
  EXPECT_NE(problem(R"({"prompt": "q", "chosen": "", "rejected": "a"})").find("is empty"),
            std::string::npos);
  const std::string text =
      problem(R"({"prompt": "q", "chosen": "a", "rejected": [{"role": "user", "content": "b"}]})");
  EXPECT_NE(text.find("x.jsonl: line 1"), std::string::npos) << text;
  EXPECT_NE(text.find("\"rejected\" ends with no answer"), std::string::npos) << text;
  EXPECT_NE(test::message_of([&] { dataset(kPair, false, 3); }).find("no room"), std::string::npos);
}

}  // namespace pair_dataset_test
}  // namespace mpitron::data

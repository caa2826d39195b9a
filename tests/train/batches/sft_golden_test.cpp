#include <filesystem>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "data/gpt/sft_dataset.h"
#include "support/corpus.h"
#include "support/golden_json.h"
#include "tokenizers/chat/sft_tokenizer.h"
#include "train/batches/text_encoder.h"

namespace mpitron::train {
namespace sft_golden_test {

using Tokens = std::vector<std::int64_t>;

/// What the reference's data set makes of recorded conversations.
class SftGolden : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(folder() + "/samples.json")) {
      GTEST_SKIP() << folder() << ": not in this set of reference data";
    }
    recorded_ = test::golden_json("generation/sft/samples.json");
    tokenizer_.emplace(folder(), "nemotron-h-aligned");
  }
  static std::string folder() { return test::golden_folder() + "/generation/sft"; }

  nlohmann::json recorded_;
  std::optional<tokenizers::SftTokenizer> tokenizer_;
};

TEST_F(SftGolden, SamplesAreTheReferences) {
  const auto file =
      std::make_shared<const data::ConversationFile>(folder() + "/conversations.jsonl");
  data::SftDatasetOptions options{
      .end = file->size(), .eod = tokenizer_->eod(), .pad = *tokenizer_->special_ids().pad};
  options.description.seq_length = recorded_["sequence_length"];
  options.description.num_samples = recorded_["samples"].size();
  EXPECT_EQ(options.eod, recorded_["eod"].get<Index>());
  EXPECT_EQ(options.pad, recorded_["pad"].get<Index>());
  const data::SftDataset dataset(file, options, make_conversation_encoder(*tokenizer_));
  const auto s = static_cast<std::size_t>(options.description.seq_length);
  Tokens text(s + 1), tokens(s), labels(s), positions(s);
  std::vector<float> mask(s);
  Index sample = 0;
  for (const auto& expected : recorded_["samples"]) {
    dataset.read_row(sample++, {.seq_length = static_cast<Index>(s), .pad = options.pad}, text,
                     {tokens, labels, mask, positions, {}});
    EXPECT_EQ(tokens, expected["tokens"].get<Tokens>());
    EXPECT_EQ(mask, expected["loss_mask"].get<std::vector<float>>());
    EXPECT_EQ(positions, expected["position_ids"].get<Tokens>());
    const Tokens learned = expected["labels"].get<Tokens>();
    for (std::size_t i = 0; i < s; ++i) {
      EXPECT_EQ(labels[i], learned[i] == -100 ? 0 : learned[i]) << i;
    }
  }
}

TEST_F(SftGolden, RefusesWhatTheReferenceRefuses) {
  const auto encode = make_conversation_encoder(*tokenizer_);
  ASSERT_FALSE(recorded_["refused"].empty());
  for (const auto& refused : recorded_["refused"]) {
    data::Conversation conversation;
    for (const auto& message : refused["messages"]) {
      conversation.push_back({message["role"], message["content"]});
    }
    EXPECT_NE(test::message_of([&] { encode(conversation); }), "") << refused;
  }
}

}  // namespace sft_golden_test
}  // namespace mpitron::train

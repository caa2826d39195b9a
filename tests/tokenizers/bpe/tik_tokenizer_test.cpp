#include "tokenizers/bpe/tik_tokenizer.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/corpus.h"
#include "tokenizers/bpe/byte_pair_encoding.h"
#include "tokenizers/golden_tokenizer.h"
#include "tokenizers/make_tokenizer.h"
#include "tokenizers/tiktoken_samples.h"
#include "utils/error.h"

namespace mpitron::tokenizers {

namespace tik_tokenizer_test {

/// The ids of the reference's texts under a vocabulary and its published pattern.
void expect_reference_ids(const std::filesystem::path& ranks, const std::string& pattern,
                          const std::string& column) {
  std::ifstream file(golden_tokenizer_dir() / "gpt2_vectors.json");
  ASSERT_TRUE(file) << golden_tokenizer_dir();
  const auto tokenizer = make_tokenizer(
      {.type = "TikTokenizer", .tokenizer_model = ranks, .tiktoken_pattern = pattern});
  const auto cache = tokenizer->make_cache();
  const auto vectors = nlohmann::json::parse(file)["vectors"];
  for (int pass = 0; pass < 2; ++pass) {  // the second pass answers from the cache
    for (const auto& vector : vectors) {
      const auto text = vector["text"].get<std::string>();
      TokenIds ids;
      tokenizer->encode(text, *cache, ids);
      ASSERT_EQ(ids, vector[column].get<TokenIds>()) << column << ": " << text;
      ASSERT_EQ(tokenizer->decode(ids), text);
    }
  }
}

// GPT-2's merges as ranks: what tiktoken's gpt2 is.
TEST(TikTokenizer, EqualsTheReferencesGpt2) {
  constexpr TokenId kTokens = 50256;  // and <|endoftext|> behind them
  std::vector<std::string> tokens;
  for (TokenId id = 0; id < kTokens; ++id) {
    tokens.push_back(gpt2_tokenizer().decode(TokenIds{id}));
  }
  const test::TemporaryFolder folder;
  std::ofstream(folder / "gpt2.tiktoken") << tiktoken_lines(tokens);
  expect_reference_ids(folder / "gpt2.tiktoken", "gpt2", "gpt2");
}

class PublishedRanks : public ::testing::TestWithParam<std::string> {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(ranks_)) {
      GTEST_SKIP() << "the reference data has no " << ranks_ << " (set MPITRON_GOLDEN_DIR)";
    }
  }
  const std::string base_ = GetParam() + "_base";
  const std::filesystem::path ranks_ = golden_tokenizer_dir() / (base_ + ".tiktoken");
};

TEST_P(PublishedRanks, EqualTheReferenceVectors) {
  expect_reference_ids(ranks_, GetParam(), base_);
}

TEST_P(PublishedRanks, SpecialTokensAreThosePublished) {
  const auto tokenizer = make_tokenizer(
      {.type = "TikTokenizer", .tokenizer_model = ranks_, .tiktoken_pattern = GetParam()});
  std::ifstream file(golden_tokenizer_dir() / (base_ + ".json"));
  const auto special = nlohmann::json::parse(file)["special_tokens"];
  EXPECT_EQ(tokenizer->eod(), special.at("<|endoftext|>").get<TokenId>());
  Index last = 0;
  for (const auto& [text, id] : special.items()) {
    EXPECT_EQ(tokenizer->decode(TokenIds{id.get<TokenId>()}), text);
    last = std::max(last, id.get<Index>());
  }
  EXPECT_EQ(tokenizer->vocab_size(), last + 1);
}

INSTANTIATE_TEST_SUITE_P(TikTokenizer, PublishedRanks, ::testing::Values("cl100k", "o200k"),
                         [](const auto& info) { return info.param; });

class SampleVocabulary : public ::testing::Test {
 protected:
  void SetUp() override {
    std::ofstream(folder_ / "v.json") << tiktoken_json(ranks_);
    std::ofstream(folder_ / "v.tiktoken") << tiktoken_lines(ranks_);
    options_ = {.type = "TikTokenizer",
                .tokenizer_model = folder_ / "v.json",
                .vocab_size = size_ + 10,
                .tiktoken_pattern = "v2",
                .tiktoken_num_special_tokens = 10};
  }
  void expect_refused(const std::string& part) const {
    const std::string message = test::message_of([&] { make_tokenizer(options_); });
    EXPECT_NE(message.find(part), std::string::npos) << message;
  }

  test::TemporaryFolder folder_;
  const std::vector<std::string> ranks_ = sample_ranks();
  const Index size_ = static_cast<Index>(ranks_.size());
  TokenizerOptions options_;
};

TEST_F(SampleVocabulary, MegatronsSpecialTokensComeFirst) {
  const auto tokenizer = make_tokenizer(options_);
  EXPECT_EQ(tokenizer->name(), "TikTokenizer");
  EXPECT_EQ(tokenizer->vocab_size(), size_ + 10);
  EXPECT_EQ(tokenizer->eod(), 2);
  EXPECT_EQ(tokenizer->decode(TokenIds{0, 1, 2, 3, 9}), "<unk><s></s><SPECIAL_3><SPECIAL_9>");
  EXPECT_EQ(tokenizer->encode("a"), TokenIds{10 + 'a'});
  EXPECT_EQ(tokenizer->encode("</s>").size(), 4U) << "special tokens are ordinary text";
  EXPECT_EQ(tokenizer->decode(tokenizer->encode("a dead face\n\n")), "a dead face\n\n");
  options_.tiktoken_special_tokens = {"<s>", "</s>", "<unk>", "<tool>"};
  EXPECT_EQ(make_tokenizer(options_)->eod(), 1);
  EXPECT_EQ(make_tokenizer(options_)->decode(TokenIds{3, 4}), "<tool><SPECIAL_4>");
}

TEST_F(SampleVocabulary, VocabSizeCutsTheRanks) {
  options_.vocab_size = 10 + 256;
  const auto tokenizer = make_tokenizer(options_);
  EXPECT_EQ(tokenizer->vocab_size(), 266);
  EXPECT_EQ(tokenizer->encode("dead").size(), 4U);
}

TEST_F(SampleVocabulary, TheReferencesDescription) {
  const TokenizerIdentity identity = make_tokenizer(options_)->identity();
  EXPECT_EQ(identity.class_name, "CustomTikTokenizer");
  ASSERT_EQ(identity.options.size(), 4U);
  EXPECT_EQ(identity.options[0],
            (std::pair<std::string, std::string>("pattern", std::string(kTiktokenV2Pattern))));
  EXPECT_EQ(identity.options[1].second, std::to_string(size_ + 10));
  EXPECT_EQ(identity.options[2].second, "10");
  EXPECT_EQ(identity.options[3].second, "None");
  options_.tiktoken_special_tokens = {"<unk>", "<s>", "</s>"};
  EXPECT_EQ(make_tokenizer(options_)->identity().options[3].second, "['<unk>', '<s>', '</s>']");
}

TEST_F(SampleVocabulary, PublishedSchemesPutTheirsBehind) {
  options_ = {.type = "TikTokenizer",
              .tokenizer_model = folder_ / "v.tiktoken",
              .tiktoken_pattern = "llama3"};
  const auto llama = make_tokenizer(options_);
  EXPECT_EQ(llama->vocab_size(), size_ + 256);
  EXPECT_EQ(llama->eod(), size_ + 1);
  EXPECT_EQ(llama->decode(TokenIds{static_cast<TokenId>(size_) + 9}), "<|eot_id|>");
  EXPECT_EQ(llama->encode("\n\n"), TokenIds{static_cast<TokenId>(size_) - 1});
  options_.tiktoken_pattern = "gpt2";
  EXPECT_EQ(make_tokenizer(options_)->eod(), size_);
  EXPECT_NE(make_tokenizer(options_)->fingerprint(), llama->fingerprint());
}

TEST_F(SampleVocabulary, RefusesByName) {
  options_.vocab_size = size_ + 11;
  expect_refused("give --vocab-size " + std::to_string(size_ + 10));
  options_.vocab_size = 10;
  expect_refused("--tiktoken-num-special-tokens 10 must be less than --vocab-size 10");
  options_.vocab_size = size_ + 10;
  options_.tiktoken_special_tokens = {"<unk>", "<s>"};
  expect_refused("</s> is missing");
  options_.tiktoken_special_tokens = {"<unk>", "<s>", "</s>", "<s>"};
  expect_refused("appears twice");
  options_.tiktoken_num_special_tokens = 2;
  expect_refused("give 4 or more");
  options_.tiktoken_pattern = "llama3";
  expect_refused("goes with --tiktoken-pattern v1 or v2");
  options_.tiktoken_pattern = "v3";
  expect_refused("--tiktoken-pattern v3: allowed are");
  options_.tiktoken_pattern.clear();
  expect_refused("needs --tiktoken-pattern");
  options_.tokenizer_model.clear();
  expect_refused("needs --tokenizer-model");
}

}  // namespace tik_tokenizer_test

}  // namespace mpitron::tokenizers

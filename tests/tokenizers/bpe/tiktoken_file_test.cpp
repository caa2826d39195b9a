#include "tokenizers/bpe/tiktoken_file.h"

#include <algorithm>
#include <fstream>
#include <limits>
#include <map>
#include <random>

#include <gtest/gtest.h>

#include "support/corpus.h"
#include "tokenizers/bpe/byte_pair_encoding.h"
#include "tokenizers/tiktoken_samples.h"
#include "utils/error.h"

namespace mpitron::tokenizers {
namespace tiktoken_file_test {

constexpr Index kAll = 1 << 20;

class TiktokenFile : public ::testing::Test {
 protected:
  std::string write(const std::string& name, const std::string& content) const {
    std::ofstream(folder_ / name, std::ios::binary) << content;
    return folder_ / name;
  }
  std::string error_of(const std::string& name, const std::string& content) const {
    const std::string file = write(name, content);
    return test::message_of([&] { load_tiktoken_ranks(file, kAll); });
  }
  void expect_error(const std::string& content, const std::string& part) const {
    const std::string name = content.starts_with('[') ? "v.json" : "v.tiktoken";
    const std::string message = error_of(name, content);
    EXPECT_NE(message.find(part), std::string::npos) << message;
  }

  test::TemporaryFolder folder_;
};

TEST_F(TiktokenFile, BothFormsHoldTheSameTokens) {
  const std::vector<std::string> tokens = sample_ranks();
  EXPECT_EQ(load_tiktoken_ranks(write("v.json", tiktoken_json(tokens)), kAll), tokens);
  EXPECT_EQ(load_tiktoken_ranks(write("v.tiktoken", tiktoken_lines(tokens)), kAll), tokens);
  EXPECT_EQ(load_tiktoken_ranks(folder_ / "v.json", 258).size(), 258U);
  EXPECT_EQ(load_tiktoken_ranks(folder_ / "v.tiktoken", 258).size(), 258U);
}

TEST_F(TiktokenFile, SaysWhatIsWrong) {
  EXPECT_NE(test::message_of([&] {
              load_tiktoken_ranks(folder_ / "none.json", kAll);
            }).find("no such file"),
            std::string::npos);
  EXPECT_NE(error_of("v.json", "{}").find("a JSON list"), std::string::npos);
  EXPECT_NE(error_of("v.json", "").find("a JSON list"), std::string::npos);
  expect_error("[3]", "entry 0: \"rank\"");
  expect_error(R"([{"rank": 0, "token_bytes": "A"}])", "entry 0: base64");
  expect_error(R"([{"rank": 1, "token_bytes": "AA=="}])", "has rank 1");
  expect_error(R"([{"rank": 0, "token_bytes": "AQ=="}])", "the bytes 0x00 to 0xFF in order");
  expect_error("[]", "no token for byte 0x00");
  expect_error("AA== 1\n", ":1: a token in base64, a space and rank 0");
  expect_error("AA== 0\nAQ==\n", ":2: a token in base64");
  expect_error("AA 0\n", "base64 of at least one byte");
  std::vector<std::string> tokens = sample_ranks();
  tokens.push_back(tokens[300]);
  expect_error(tiktoken_lines(tokens), "have the same bytes");
}

// tiktoken's own rule, straight from its description: the two neighbours whose bytes together have
// the lowest rank are joined, the leftmost first; a piece that is a token stays whole.
TokenIds join_by_rank(const std::map<std::string, TokenId>& ranks, const std::string& piece) {
  std::vector<std::string> parts;
  for (const char c : piece) {
    parts.emplace_back(1, c);
  }
  while (!ranks.contains(piece) && parts.size() > 1) {
    std::size_t best = 0;
    TokenId lowest = std::numeric_limits<TokenId>::max();
    for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
      const auto found = ranks.find(parts[i] + parts[i + 1]);
      if (found != ranks.end() && found->second < lowest) {
        lowest = found->second;
        best = i;
      }
    }
    if (lowest == std::numeric_limits<TokenId>::max()) {
      break;
    }
    parts[best] += parts[best + 1];
    parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(best) + 1);
  }
  if (ranks.contains(piece)) {
    return {ranks.at(piece)};
  }
  TokenIds ids;
  for (const std::string& part : parts) {
    ids.push_back(ranks.at(part));
  }
  return ids;
}

// Vocabularies of random strings in random order have pairs of equal results, tokens that no merges
// make and ranks below those of their parts.
TEST_F(TiktokenFile, OneMergeForEachTokenSaysTheSameAsItsRank) {
  std::mt19937_64 random(17);
  const auto word = [&](std::size_t most) {
    std::string text;
    for (std::size_t n = 1 + random() % most; n > 0; --n) {
      text += static_cast<char>('a' + random() % 3);
    }
    return text;
  };
  for (int vocabulary = 0; vocabulary < 30; ++vocabulary) {
    std::vector<std::string> tokens = sample_ranks();
    tokens.resize(256);
    for (int i = 0; i < 60; ++i) {
      const std::string token = word(5);
      if (token.size() > 1 && std::find(tokens.begin(), tokens.end(), token) == tokens.end()) {
        tokens.push_back(token);
      }
    }
    std::map<std::string, TokenId> ranks;
    for (const std::string& token : tokens) {
      ranks.emplace(token, static_cast<TokenId>(ranks.size()));
    }
    const BytePairEncoding tokenizer(bpe_model_of_ranks(tokens, 0));
    for (int i = 0; i < 300; ++i) {
      const std::string piece = word(i % 10 == 0 ? 100 : 12);
      ASSERT_EQ(tokenizer.encode(piece), join_by_rank(ranks, piece)) << piece;
    }
  }
}

}  // namespace tiktoken_file_test
}  // namespace mpitron::tokenizers

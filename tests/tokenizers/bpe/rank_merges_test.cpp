#include <algorithm>
#include <limits>
#include <map>
#include <random>

#include <gtest/gtest.h>

#include "tokenizers/bpe/byte_pair_encoding.h"
#include "tokenizers/bpe/tik_tokenizer.h"
#include "tokenizers/tiktoken_samples.h"

namespace mpitron::tokenizers {
namespace rank_merges_test {

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

TEST(RankMerges, OneMergeForEachTokenSaysTheSameAsItsRank) {
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

}  // namespace rank_merges_test
}  // namespace mpitron::tokenizers

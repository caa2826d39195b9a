#include "tokenizers/bpe/bpe_trainer.h"

#include <algorithm>
#include <map>
#include <random>

#include <gtest/gtest.h>

#include "support/corpus.h"
#include "tokenizers/bpe/byte_pair_encoding.h"
#include "utils/error.h"
#include "utils/system/files.h"

namespace mpitron::tokenizers {
namespace bpe_trainer_test {

// The textbook: count all pairs of all words anew for every merge.
std::vector<std::pair<std::string, std::string>> train_naively(const WordCounts& counts,
                                                               const BpeModel& start,
                                                               Index vocab_size) {
  std::vector<std::string> tokens(start.tokens.begin(), start.tokens.begin() + 256);
  std::vector<std::pair<TokenIds, Index>> words;
  for (const auto& [text, count] : counts.sorted()) {
    TokenIds ids;
    for (const char c : text) {
      ids.push_back(start.byte_ids[static_cast<unsigned char>(c)]);
    }
    words.emplace_back(ids, count);
  }
  std::vector<std::pair<std::string, std::string>> merges;
  while (static_cast<Index>(tokens.size()) < vocab_size - 1) {
    std::map<std::pair<TokenId, TokenId>, Index> pairs;
    for (const auto& [ids, count] : words) {
      for (std::size_t i = 0; i + 1 < ids.size(); ++i) {
        pairs[{ids[i], ids[i + 1]}] += count;
      }
    }
    const auto best =
        std::max_element(pairs.begin(), pairs.end(),
                         [](const auto& a, const auto& b) { return a.second < b.second; });
    if (best == pairs.end() || best->second < 2) {
      break;
    }
    const auto [left, right] = best->first;
    merges.emplace_back(tokens[static_cast<std::size_t>(left)],
                        tokens[static_cast<std::size_t>(right)]);
    const std::string bytes = merges.back().first + merges.back().second;
    const auto known = std::find(tokens.begin(), tokens.end(), bytes);
    const auto id = static_cast<TokenId>(known - tokens.begin());
    if (known == tokens.end()) {
      tokens.push_back(bytes);
    }
    for (auto& [ids, count] : words) {
      for (std::size_t i = 0; i + 1 < ids.size(); ++i) {
        if (ids[i] == left && ids[i + 1] == right) {
          ids[i] = id;
          ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(i) + 1);
        }
      }
    }
  }
  return merges;
}

TEST(BpeTrainer, EqualsTheNaiveTrainer) {
  for (unsigned seed = 0; seed < 6; ++seed) {
    std::mt19937 random(seed);
    WordCounts counts;
    for (int i = 0; i < 300; ++i) {
      std::string word;
      for (unsigned n = 1 + random() % 12; n > 0; --n) {
        word += "aaabcd"[random() % 6];
      }
      counts.add(word, 1 + random() % 9);
    }
    const BpeModel model = train_bpe(counts, 500);
    const auto expected = train_naively(counts, model, 500);
    ASSERT_EQ(model.merges.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      ASSERT_EQ(model.tokens[static_cast<std::size_t>(model.merges[i].left)], expected[i].first)
          << i;
      ASSERT_EQ(model.tokens[static_cast<std::size_t>(model.merges[i].right)], expected[i].second)
          << i;
    }
  }
}

TEST(BpeTrainer, FilesLoadAndTokenise) {
  WordCounts counts;
  counts.add_text("the cat and the hat and the bat \" \\ the end, the cat's hat");
  const BpeModel model = train_bpe(counts, 270);
  ASSERT_LE(model.tokens.size(), 270U);
  EXPECT_EQ(model.tokens.back(), kEndOfText);
  EXPECT_EQ(model.eod, static_cast<TokenId>(model.tokens.size()) - 1);
  const test::TemporaryFolder folder;
  save_bpe_model(model, folder / "vocab.json", folder / "merges.txt");
  const BytePairEncoding loaded(folder / "vocab.json", folder / "merges.txt");
  EXPECT_EQ(loaded.fingerprint(), BytePairEncoding(model).fingerprint());
  const std::string text = "that the \u00E9 hat";
  EXPECT_EQ(loaded.decode(loaded.encode(text)), text);
  EXPECT_EQ(loaded.encode(" the").size(), 1U);
}

TEST(BpeTrainer, StopsWhenNothingRepeats) {
  WordCounts counts;
  counts.add_text("ab cd");
  EXPECT_EQ(train_bpe(counts, 1000).tokens.size(), 257U);
}

TEST(BpeTrainer, RefusesImpossibleSizes) {
  EXPECT_THROW(train_bpe(WordCounts(), 256), Error);
  EXPECT_THROW(train_bpe(WordCounts(), Index{1} << 30), Error);
}

}  // namespace bpe_trainer_test
}  // namespace mpitron::tokenizers

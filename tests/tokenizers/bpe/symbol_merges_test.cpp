#include "tokenizers/bpe/symbol_merges.h"

#include <random>

#include <gtest/gtest.h>

namespace mpitron::tokenizers {
namespace symbol_merges_test {

using Symbol = SymbolMerges::Symbol;
using Rule = SymbolMerges::Rule;

// The definition, pair by pair.
std::vector<Symbol> merge_slowly(const std::vector<Rule>& rules, std::vector<Symbol> symbols) {
  for (;;) {
    const Rule* best = nullptr;
    std::size_t at = 0;
    for (std::size_t i = 0; i + 1 < symbols.size(); ++i) {
      for (const Rule& rule : rules) {
        if (rule.left == symbols[i].id && rule.right == symbols[i + 1].id &&
            (best == nullptr || rule.rank < best->rank)) {
          best = &rule;
          at = i;
        }
      }
    }
    if (best == nullptr) {
      return symbols;
    }
    symbols[at] = {best->result, symbols[at].bytes + symbols[at + 1].bytes};
    symbols.erase(symbols.begin() + static_cast<std::ptrdiff_t>(at) + 1);
  }
}

TEST(SymbolMerges, SmallestRankFirstThenLeftmost) {
  const SymbolMerges merges(std::vector<Rule>{{1, 2, 5, 10}, {2, 1, 3, 11}, {11, 11, 9, 12}});
  std::vector<Symbol> symbols{{1, 1}, {2, 1}, {1, 1}, {2, 1}, {1, 1}};
  merges.merge(symbols);  // 1 (21) (21) -> 1 12
  ASSERT_EQ(symbols.size(), 2U);
  EXPECT_EQ(symbols[0].id, 1);
  EXPECT_EQ(symbols[1].id, 12);
  EXPECT_EQ(symbols[1].bytes, 4U);
}

TEST(SymbolMerges, NegativeSymbolsNeverMerge) {
  const SymbolMerges merges(std::vector<Rule>{{-1, -1, 0, 3}, {1, 1, 1, 2}});
  std::vector<Symbol> symbols{{-1, 1}, {-1, 1}, {1, 1}};
  merges.merge(symbols);
  EXPECT_EQ(symbols.size(), 3U);
}

// Random rules with equal ranks, short lists (a scan) and long ones (a queue).
TEST(SymbolMerges, AgreesWithTheDefinition) {
  std::mt19937 random(11);
  for (int round = 0; round < 60; ++round) {
    std::vector<Rule> rules;
    for (int left = 0; left < 12; ++left) {
      for (int right = 0; right < 12; ++right) {
        if (random() % 3 == 0) {
          rules.push_back({left, right, static_cast<std::uint32_t>(random() % 20),
                           4 + static_cast<TokenId>(random() % 8)});
        }
      }
    }
    std::vector<Symbol> symbols;
    for (std::size_t i = random() % 120; i > 0; --i) {
      symbols.push_back({static_cast<TokenId>(random() % 4), 1});
    }
    const auto expected = merge_slowly(rules, symbols);
    SymbolMerges(rules).merge(symbols);
    ASSERT_EQ(symbols.size(), expected.size());
    for (std::size_t i = 0; i < symbols.size(); ++i) {
      ASSERT_EQ(symbols[i].id, expected[i].id);
      ASSERT_EQ(symbols[i].bytes, expected[i].bytes);
    }
  }
}

}  // namespace symbol_merges_test
}  // namespace mpitron::tokenizers

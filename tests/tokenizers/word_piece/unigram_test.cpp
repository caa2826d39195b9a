#include "tokenizers/word_piece/unigram.h"

#include <cmath>
#include <limits>
#include <random>

#include <gtest/gtest.h>

namespace mpitron::tokenizers {
namespace unigram_test {

using Model = Unigram<double>;

std::vector<TokenId> ids_of(const Model& model, std::string_view text) {
  Model::Workspace workspace;
  std::vector<Model::Step> path;
  model.best_path(text, 0, workspace, path);
  std::vector<TokenId> ids;
  for (const auto& step : path) {
    ids.push_back(step.id);
  }
  return ids;
}

TEST(Unigram, TakesTheLargestSum) {
  const Model model({{"a", -1, 1}, {"b", -1, 2}, {"ab", -1.5, 3}, {"bc", -5, 4}}, 0, -20);
  EXPECT_EQ(ids_of(model, "ab"), (std::vector<TokenId>{3}));
  EXPECT_EQ(ids_of(model, "abc"), (std::vector<TokenId>{1, 4}));        // -6 beats -21.5
  EXPECT_EQ(ids_of(model, "a\xC3\xA9"), (std::vector<TokenId>{1, 0}));  // one unknown character
  EXPECT_EQ(ids_of(model, ""), (std::vector<TokenId>{}));
}

TEST(Unigram, TellsTheLeadOfTheBestPath) {
  const Model model({{"a", -1, 1}, {"aa", -1.75, 2}}, 0, -20);
  Model::Workspace workspace;
  std::vector<Model::Step> path;
  EXPECT_DOUBLE_EQ(model.best_path("aa", 0, workspace, path), 0.25);
  EXPECT_TRUE(std::isinf(model.best_path("a", 0, workspace, path)));
}

// All ways to cut short texts, tried one by one; the lead is the gap to the second best.
void try_all(const std::vector<Model::Piece>& pieces, std::string_view text, double sum,
             std::vector<double>& sums) {
  if (text.empty()) {
    sums.push_back(sum);
    return;
  }
  bool has_single = false;
  for (const auto& piece : pieces) {
    if (text.starts_with(piece.text)) {
      has_single |= piece.text.size() == 1;
      try_all(pieces, text.substr(piece.text.size()), sum + piece.score, sums);
    }
  }
  if (!has_single) {
    try_all(pieces, text.substr(1), sum - 20, sums);
  }
}

TEST(Unigram, AgreesWithAllPaths) {
  std::mt19937 random(3);
  const std::vector<std::string> texts{"a", "b", "ab", "ba", "abb", "bab", "aabb", "c"};
  for (int round = 0; round < 100; ++round) {
    std::vector<Model::Piece> pieces;
    for (std::size_t i = 0; i < texts.size(); ++i) {
      if (random() % 4 != 0) {
        pieces.push_back(
            {texts[i], -static_cast<double>(random() % 1000) / 100.0, static_cast<TokenId>(i) + 1});
      }
    }
    std::string text(1 + random() % 9, 'a');
    for (char& c : text) {
      c = "abcd"[random() % 4];
    }
    std::vector<double> sums;
    try_all(pieces, text, 0, sums);
    std::sort(sums.rbegin(), sums.rend());
    Model::Workspace workspace;
    std::vector<Model::Step> path;
    const Model model(pieces, 0, -20);
    const double lead = model.best_path(text, 0, workspace, path);
    double sum = 0;
    for (const auto& step : path) {
      sum = model.add(sum, step.id);
    }
    EXPECT_NEAR(sum, sums[0], 1e-9) << text;
    if (sums.size() > 1) {
      EXPECT_NEAR(lead, sums[0] - sums[1], 1e-9) << text;
    }
  }
}

}  // namespace unigram_test
}  // namespace mpitron::tokenizers

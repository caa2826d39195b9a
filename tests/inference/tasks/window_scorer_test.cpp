#include "inference/tasks/window_scorer.h"

#include <gtest/gtest.h>

namespace mpitron::inference {
namespace window_scorer_test {

std::vector<TextWindow> windows() {
  std::vector<TextWindow> result;
  for (tokenizers::TokenId i = 1; i <= 11; ++i) {
    result.push_back({.tokens = tokenizers::TokenIds(static_cast<std::size_t>(2 + i * 5 % 7), i),
                      .first_scored = static_cast<std::size_t>(1 + i % 2)});
  }
  return result;
}

/// Each label costs its number; label 3 is always missed.
void pass(const TokenBatch& batch, TokenScores& scores) {
  for (std::size_t i = 0; i < batch.labels.size(); ++i) {
    scores.losses[i] = static_cast<double>(batch.labels[i]);
    scores.misses[i] = batch.labels[i] == 3 ? 1 : 0;
  }
}

TEST(WindowScorer, ScoresComeInTheOrderOfTheWindows) {
  const auto all = windows();
  const auto scores = WindowScorer({.longest = 8, .batch_size = 4}, pass).score(all);
  for (std::size_t i = 0; i < all.size(); ++i) {
    const std::size_t counted = all[i].tokens.size() - all[i].first_scored;
    EXPECT_EQ(scores[i].tokens, counted);
    EXPECT_EQ(scores[i].loss, static_cast<double>(counted * (i + 1)));
    EXPECT_EQ(scores[i].greedy, i + 1 != 3);
  }
}

TEST(WindowScorer, ReplicasShareTheWindows) {
  const auto all = windows();
  const auto whole = WindowScorer({.longest = 8, .batch_size = 2}, pass).score(all);
  std::vector<std::vector<double>> parts;
  std::vector<int> passes(3);
  for (Index replica = 0; replica < 3; ++replica) {
    const WindowScorer scorer(
        {.longest = 8,
         .batch_size = 2,
         .replicas = 3,
         .replica = replica,
         .sum = [&](std::span<double> own) { parts.emplace_back(own.begin(), own.end()); }},
        [&](const TokenBatch& batch, TokenScores& scores) {
          ++passes[static_cast<std::size_t>(replica)];
          pass(batch, scores);
        });
    scorer.score(all);
  }
  EXPECT_EQ(passes, (std::vector<int>{2, 2, 2}));  // all take part equally often
  for (std::size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(parts[0][2 * i] + parts[1][2 * i] + parts[2][2 * i], whole[i].loss);
  }
}

TEST(CutFront, KeepsTheEnd) {
  TextWindow window{.tokens = {1, 2, 3, 4, 5}, .first_scored = 3};
  EXPECT_FALSE(cut_front(window, 4));
  EXPECT_TRUE(cut_front(window, 2));
  EXPECT_EQ(window.tokens, (tokenizers::TokenIds{3, 4, 5}));
  EXPECT_EQ(window.first_scored, 1U);
}

}  // namespace window_scorer_test
}  // namespace mpitron::inference

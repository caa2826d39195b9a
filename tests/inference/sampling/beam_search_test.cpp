#include "inference/sampling/beam_search.h"

#include <gtest/gtest.h>

namespace mpitron::inference {
namespace beam_search_test {

constexpr TokenId kStop = 9;

TEST(BeamSearch, KeepsTheLikeliestContinuations) {
  BeamSearch search({5}, {.width = 2, .tokens = 2, .stop = kStop, .length_penalty = 0});
  ASSERT_EQ(search.open(), (std::vector<TokenIds>{{5}}));
  EXPECT_EQ(search.wanted(), 4);
  search.take({{{1, -0.5F}, {2, -1.F}, {3, -2.F}, {4, -3.F}}});
  ASSERT_EQ(search.open(), (std::vector<TokenIds>{{5, 1}, {5, 2}}));
  search.take({{{1, -2.F}, {2, -3.F}, {3, -4.F}, {4, -5.F}},
               {{7, -0.25F}, {8, -1.F}, {3, -4.F}, {4, -5.F}}});
  EXPECT_TRUE(search.open().empty());
  const std::vector<Hypothesis> best = search.best();
  ASSERT_EQ(best.size(), 2u);
  EXPECT_EQ(best[0].tokens, (TokenIds{5, 2, 7}));
  EXPECT_DOUBLE_EQ(best[0].score, -1.25);
  EXPECT_EQ(best[1].tokens, (TokenIds{5, 2, 8}));
}

TEST(BeamSearch, StopsWhereNothingOpenCouldBeBetter) {
  BeamSearch search({5}, {.width = 1, .tokens = 8, .stop = kStop});
  search.take({{{1, -0.5F}, {kStop, -0.75F}}});  // it is not among the best one
  ASSERT_EQ(search.open(), (std::vector<TokenIds>{{5, 1}}));
  search.take({{{kStop, -0.5F}, {1, -4.F}}});
  EXPECT_TRUE(search.open().empty());
  const std::vector<Hypothesis> best = search.best();
  ASSERT_EQ(best.size(), 1u);
  EXPECT_EQ(best[0].tokens, (TokenIds{5, 1}));
  EXPECT_DOUBLE_EQ(best[0].score, -0.5);  // the sum -1 over two tokens
}

TEST(BeamSearch, LengthPenaltyPrefersLongAnswers) {
  for (const double penalty : {0., 2.}) {
    BeamSearch search({5}, {.width = 2, .tokens = 2, .stop = kStop, .length_penalty = penalty});
    search.take({{{kStop, -0.5F}, {1, -0.6F}, {2, -0.7F}, {3, -5.F}}});
    search.take({{{1, -0.1F}, {2, -3.F}, {3, -4.F}, {4, -5.F}},
                 {{1, -3.F}, {2, -3.F}, {3, -4.F}, {4, -5.F}}});
    EXPECT_EQ(search.best().front().tokens, penalty == 0 ? (TokenIds{5}) : (TokenIds{5, 1, 1}));
  }
}

}  // namespace beam_search_test
}  // namespace mpitron::inference

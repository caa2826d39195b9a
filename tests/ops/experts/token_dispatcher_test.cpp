#include "ops/experts/token_dispatcher.h"

#include <algorithm>

#include "comm/groups/rank_grid.h"
#include "ops/gradient_ranks.h"

namespace mpitron::ops {
namespace token_dispatcher_test {

constexpr Index kTokens = 5, kWidth = 3;

struct Sharing {
  Index expert_ranks, tensor_ranks, experts;
  Index ranks() const { return expert_ranks * tensor_ranks; }
};
constexpr Sharing kSharings[] = {{1, 1, 3}, {2, 1, 2}, {2, 1, 6}, {1, 2, 2}, {2, 2, 4}, {4, 2, 8}};

/// The experts that a token of a rank visits: none, one or two.
std::vector<Index> visited(Index rank, Index token, const Sharing& sharing) {
  const Index first = (rank * 2 + token * 3) % sharing.experts;
  std::vector<Index> experts{first, (first + 1 + token) % sharing.experts};
  experts.resize(static_cast<std::size_t>((rank + token) % 3));
  if (experts.size() == 2 && experts[0] == experts[1]) {
    experts.pop_back();
  }
  return experts;
}

struct Tokens {
  Var x;
  ExpertVisits visits;
  std::vector<Index> experts;  // of each visit
};

Tokens tokens_of(const TestRank& rank, const Sharing& sharing) {
  Tokens tokens;
  const auto seed = static_cast<unsigned>(rank.rank());
  tokens.x =
      autograd::variable(rank.tensor({kTokens, kWidth}, test::test_values(kTokens * kWidth, seed)));
  std::vector<std::int64_t> rows;
  for (Index expert = 0; expert < sharing.experts; ++expert) {
    const std::size_t before = rows.size();
    for (Index token = 0; token < kTokens; ++token) {
      if (std::ranges::count(visited(rank.rank(), token, sharing), expert) > 0) {
        rows.push_back(token);
        tokens.experts.push_back(expert);
      }
    }
    tokens.visits.counts.push_back(static_cast<Index>(rows.size() - before));
  }
  const auto n = static_cast<Index>(rows.size());
  tokens.visits.rows = test::make_ids(rank.device, {n}, rows);
  tokens.visits.probabilities =
      autograd::variable(rank.tensor({n}, test::test_values(n, 100 + seed)));
  return tokens;
}

double factor(Index expert) {
  return static_cast<double>(expert + 2);
}

/// Every expert multiplies by a factor of its own and by the probability; each of its shards makes
/// an equal part of that.
Var run_experts(const TestRank& rank, const Sharing& sharing, const ExpertInput& input) {
  const Index local = sharing.experts / sharing.expert_ranks;
  const Index first = rank.rank() / sharing.tensor_ranks * local;
  std::vector<double> factors;
  for (Index expert = 0; expert < local; ++expert) {
    factors.insert(factors.end(),
                   static_cast<std::size_t>(input.counts[static_cast<std::size_t>(expert)]),
                   factor(first + expert) / static_cast<double>(sharing.tensor_ranks));
  }
  const std::vector<double> x = test::values_of(input.tokens.value);
  const std::vector<double> p = test::values_of(input.probabilities.value);
  EXPECT_EQ(p.size(), factors.size());
  const auto scaled = [factors](const std::vector<double>& rows, const std::vector<double>& by) {
    std::vector<double> out = rows;
    for (std::size_t i = 0; i < out.size(); ++i) {
      out[i] *= factors[i / kWidth] * by[i / kWidth];
    }
    return out;
  };
  const Var y = autograd::variable(rank.tensor(input.tokens.shape(), scaled(x, p)));
  rank.context.record(
      y.slot, [=, &rank, tokens = input.tokens, probabilities = input.probabilities](
                  Context& context, const Tensor& gradient) {
        const std::vector<double> dy = test::values_of(gradient);
        autograd::accumulate(context, tokens.slot, rank.tensor(tokens.shape(), scaled(dy, p)));
        std::vector<double> dp(p.size());
        for (std::size_t i = 0; i < dy.size(); ++i) {
          dp[i / kWidth] += dy[i] * x[i] * factors[i / kWidth];
        }
        autograd::accumulate(context, probabilities.slot, rank.tensor(probabilities.shape(), dp));
      });
  return y;
}

comm::ParallelGroups groups_of(comm::World& world, const Sharing& sharing) {
  return comm::make_parallel_groups(
      world, comm::RankGrid(world.size(), {.expert = sharing.expert_ranks,
                                           .expert_tensor = sharing.tensor_ranks}));
}

/// What a rank alone with all experts computes: the output and both gradients.
struct Expected {
  std::vector<double> out, dx, dp;
};
Expected expected_of(const Tokens& tokens, const std::vector<double>& dout) {
  const std::vector<double> x = test::values_of(tokens.x.value);
  const std::vector<double> p = test::values_of(tokens.visits.probabilities.value);
  Expected expected{std::vector<double>(x.size()), std::vector<double>(x.size()),
                    std::vector<double>(p.size())};
  for (std::size_t visit = 0; visit < p.size(); ++visit) {
    const auto row = static_cast<std::size_t>(tokens.visits.rows.data<std::int64_t>()[visit]);
    for (std::size_t i = row * kWidth; i < (row + 1) * kWidth; ++i) {
      const double f = factor(tokens.experts[visit]);
      expected.out[i] += f * p[visit] * x[i];
      expected.dx[i] += f * p[visit] * dout[i];
      expected.dp[visit] += f * x[i] * dout[i];
    }
  }
  return expected;
}

class TokenDispatcherTest : public ::testing::TestWithParam<TokenDispatch> {};

/// As if every rank had all experts, in both passes, also for tokens that visit none.
TEST_P(TokenDispatcherTest, ComputesWhatOneRankWithAllExpertsDoes) {
  for (const Sharing& sharing : kSharings) {
    on_ranks(sharing.ranks(), [&](TestRank& rank) {
      const auto dispatcher =
          make_token_dispatcher(GetParam(), sharing.experts, groups_of(rank.world, sharing));
      const Tokens tokens = tokens_of(rank, sharing);
      const ExpertInput input = dispatcher->dispatch(rank.context, tokens.x, tokens.visits);
      const Var out = dispatcher->combine(rank.context, run_experts(rank, sharing, input), input);
      const std::vector<double> dout =
          test::test_values(kTokens * kWidth, 50 + static_cast<unsigned>(rank.rank()));
      const Expected expected = expected_of(tokens, dout);
      expect_near(test::values_of(out.value), expected.out);
      rank.backward(out, rank.tensor({kTokens, kWidth}, dout));
      expect_near(test::values_of(tokens.x.slot.gradient()), expected.dx);
      expect_near(test::values_of(tokens.visits.probabilities.slot.gradient()), expected.dp);
    });
  }
}

/// Nobody waits for a rank without visits, nor for the ranks of experts that nobody visits.
TEST_P(TokenDispatcherTest, AllTokensMayVisitOneExpert) {
  const Sharing sharing{4, 1, 4};
  on_ranks(4, [&](TestRank& rank) {
    const auto dispatcher =
        make_token_dispatcher(GetParam(), sharing.experts, groups_of(rank.world, sharing));
    Tokens tokens;
    const Index n = rank.rank() == 3 ? 0 : kTokens;
    tokens.x = autograd::variable(
        rank.tensor({kTokens, kWidth}, std::vector<double>(kTokens * kWidth, 1)));
    tokens.visits = {.rows = test::make_ids(rank.device, {n},
                                            n == 0 ? std::vector<std::int64_t>{}
                                                   : std::vector<std::int64_t>{0, 1, 2, 3, 4}),
                     .probabilities = autograd::variable(
                         rank.tensor({n}, std::vector<double>(static_cast<std::size_t>(n), 0.5))),
                     .counts = {0, n, 0, 0}};
    const ExpertInput input = dispatcher->dispatch(rank.context, tokens.x, tokens.visits);
    EXPECT_EQ(input.tokens.shape(), (Shape{rank.rank() == 1 ? 3 * kTokens : 0, kWidth}));
    const Var out = dispatcher->combine(rank.context, run_experts(rank, sharing, input), input);
    const double wanted = n == 0 ? 0 : 0.5 * factor(1);
    expect_near(test::values_of(out.value), std::vector<double>(kTokens * kWidth, wanted));
    rank.backward(out, rank.tensor({kTokens, kWidth}, std::vector<double>(kTokens * kWidth, 1)));
    expect_near(test::values_of(tokens.x.slot.gradient()),
                std::vector<double>(kTokens * kWidth, wanted));
  });
}

INSTANTIATE_TEST_SUITE_P(Kinds, TokenDispatcherTest,
                         ::testing::Values(TokenDispatch::all_gather, TokenDispatch::all_to_all),
                         [](const auto& info) {
                           return info.param == TokenDispatch::all_gather ? "all_gather"
                                                                          : "all_to_all";
                         });

}  // namespace token_dispatcher_test
}  // namespace mpitron::ops

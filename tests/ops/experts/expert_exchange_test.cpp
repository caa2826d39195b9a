#include "ops/experts/expert_exchange.h"

#include <numeric>

#include "ops/gradient_ranks.h"

namespace mpitron::ops {
namespace expert_exchange_test {

/// How the ranks of a test share `experts` experts.
struct Sharing {
  Index expert_ranks, tensor_ranks, experts;
  Index ranks() const { return expert_ranks * tensor_ranks; }
};

constexpr Sharing kSharings[] = {{1, 1, 3}, {2, 1, 2}, {2, 1, 6}, {1, 2, 2},
                                 {2, 2, 4}, {1, 3, 2}, {4, 1, 4}, {2, 3, 4}};
constexpr Index kWidth = 3;

/// Rows of a rank for an expert: some have none.
Index rows_of(Index rank, Index expert) {
  return (rank * 3 + expert * 5) % 4;
}

std::vector<Index> counts_of(Index rank, Index experts) {
  std::vector<Index> counts;
  for (Index expert = 0; expert < experts; ++expert) {
    counts.push_back(rows_of(rank, expert));
  }
  return counts;
}

double element(Index rank, Index expert, Index row, Index column) {
  return static_cast<double>(rank * 1000 + expert * 100 + row * 10 + column);
}

void append(std::vector<double>& values, Index rank, Index expert) {
  for (Index row = 0; row < rows_of(rank, expert); ++row) {
    for (Index column = 0; column < kWidth; ++column) {
      values.push_back(element(rank, expert, row, column));
    }
  }
}

Tensor matrix(const TestRank& rank, const std::vector<double>& values) {
  return rank.tensor({static_cast<Index>(values.size()) / kWidth, kWidth}, values);
}

/// This rank's rows by expert, and what the experts here get: of each expert member by member.
Tensor rows_here(const TestRank& rank, const Sharing& sharing) {
  std::vector<double> values;
  for (Index expert = 0; expert < sharing.experts; ++expert) {
    append(values, rank.rank(), expert);
  }
  return matrix(rank, values);
}
Tensor rows_for_experts(const TestRank& rank, const Sharing& sharing) {
  const Index local = sharing.experts / sharing.expert_ranks;
  const Index first = rank.rank() / sharing.tensor_ranks * local;
  std::vector<double> values;
  for (Index expert = first; expert < first + local; ++expert) {
    for (Index member = 0; member < rank.size(); ++member) {
      append(values, member, expert);
    }
  }
  return matrix(rank, values);
}

ExchangeHandle make_exchange(const TestRank& rank, const Sharing& sharing,
                             const std::vector<Index>& counts) {
  return std::make_shared<const ExpertExchange>(rank.context,
                                                ExpertRanks{.group = rank.world.all(),
                                                            .tensor_ranks = sharing.tensor_ranks,
                                                            .experts = sharing.experts},
                                                counts);
}

ExchangeHandle make_exchange(const TestRank& rank, const Sharing& sharing) {
  return make_exchange(rank, sharing, counts_of(rank.rank(), sharing.experts));
}

TEST(ExpertExchange, EachExpertGetsItsRowsMemberByMember) {
  for (const Sharing& sharing : kSharings) {
    on_ranks(sharing.ranks(), [&](TestRank& rank) {
      const ExchangeHandle exchange = make_exchange(rank, sharing);
      const Tensor got = exchange->to_experts(rank.context, rows_here(rank, sharing));
      EXPECT_EQ(test::values_of(got), test::values_of(rows_for_experts(rank, sharing)));
      const std::vector<Index>& counts = exchange->local_counts();
      EXPECT_EQ(std::accumulate(counts.begin(), counts.end(), Index{0}), got.shape()[0]);
    });
  }
}

/// Every shard of an expert gives back a summand.
TEST(ExpertExchange, RowsComeBackAsTheSumOverTheShards) {
  for (const Sharing& sharing : kSharings) {
    on_ranks(sharing.ranks(), [&](TestRank& rank) {
      const ExchangeHandle exchange = make_exchange(rank, sharing);
      const Tensor x = rows_here(rank, sharing);
      const Tensor back =
          exchange->from_experts(rank.context, exchange->to_experts(rank.context, x));
      std::vector<double> expected = test::values_of(x);
      for (double& value : expected) {
        value *= static_cast<double>(sharing.tensor_ranks);
      }
      EXPECT_EQ(test::values_of(back), expected);
    });
  }
}

TEST(ExpertExchange, RowNumbersAndSingleColumnsTravelAsWell) {
  on_ranks(4, [](TestRank& rank) {
    const Sharing sharing{2, 2, 4};
    const ExchangeHandle exchange = make_exchange(rank, sharing);
    const Index rows = rows_here(rank, sharing).shape()[0];
    std::vector<std::int64_t> ids(static_cast<std::size_t>(rows));
    std::iota(ids.begin(), ids.end(), 100 * rank.rank());
    const Tensor got = exchange->to_experts(rank.context, test::make_ids(rank.device, {rows}, ids));
    EXPECT_EQ(got.shape(), (Shape{rows_for_experts(rank, sharing).shape()[0]}));
    EXPECT_EQ(got.dtype(), DType::i64);
    // The first row of the first expert here is the first member's that has one.
    const Index expert = rank.rank() / 2 * 2;
    Index before = 0;  // the rows of member 1 that go to other ranks
    for (Index other = 0; other < expert; ++other) {
      before += rows_of(1, other);
    }
    EXPECT_EQ(*(got.data<std::int64_t>() + rows_of(0, expert)), 100 + before);
  });
}

/// <g, to(x)> over all ranks == <from(g), x>: each is the other one's gradient.
TEST(ExpertExchange, EachDirectionIsTheGradientOfTheOther) {
  for (const Sharing& sharing : kSharings) {
    on_ranks(sharing.ranks(), [&](TestRank& rank) {
      const ExchangeHandle exchange = make_exchange(rank, sharing);
      const Var x = autograd::variable(rows_here(rank, sharing));
      const Var y = to_experts(rank.context, {x}, exchange)[0];
      const Tensor gradient =
          matrix(rank, test::test_values(y.value.numel(), static_cast<unsigned>(rank.rank())));
      rank.backward(y, gradient);
      const Tensor expected = exchange->from_experts(rank.context, gradient);
      EXPECT_EQ(test::values_of(x.slot.gradient()), test::values_of(expected));
    });
  }
}

/// A rank whose output nobody used takes part with zeros.
TEST(ExpertExchange, WhoGetsNoGradientStillTakesPart) {
  on_ranks(2, [](TestRank& rank) {
    const Sharing sharing{2, 1, 2};
    const ExchangeHandle exchange = make_exchange(rank, sharing);
    const Var x = autograd::variable(rows_here(rank, sharing));
    const Var y = to_experts(rank.context, {x}, exchange)[0];
    const Var output = rank.rank() == 0 ? y : autograd::variable(y.value);
    const std::vector<double> ones(static_cast<std::size_t>(y.value.numel()), 1);
    rank.backward(output, matrix(rank, ones));
    const std::vector<double> got = test::values_of(x.slot.gradient());
    const auto first = static_cast<std::size_t>(rows_of(rank.rank(), 0) * kWidth);
    for (std::size_t i = 0; i < got.size(); ++i) {
      EXPECT_EQ(got[i], i < first ? 1 : 0);  // the rows of the expert on rank 0
    }
  });
}

TEST(ExpertExchange, AllRowsMayGoToOneExpertAndNoneToOthers) {
  on_ranks(4, [](TestRank& rank) {
    const Sharing sharing{4, 1, 4};
    const ExchangeHandle exchange = make_exchange(rank, sharing, {0, 0, 2, 0});
    const Tensor x = rank.tensor({2, kWidth}, std::vector<double>(2 * kWidth, 1));
    const Tensor got = exchange->to_experts(rank.context, x);
    EXPECT_EQ(got.shape(), (Shape{rank.rank() == 2 ? 8 : 0, kWidth}));
    EXPECT_EQ(test::values_of(exchange->from_experts(rank.context, got)), test::values_of(x));
  });
}

/// The sum over three shards in half precision is rounded once.
TEST(ExpertExchange, SumsOfShardsAreRoundedOnce) {
  on_ranks(3, [](TestRank& rank) {
    const Sharing sharing{1, 3, 1};
    const ExchangeHandle exchange =
        make_exchange(rank, sharing, {rank.rank() == 0 ? Index{1} : Index{0}});
    const double summands[] = {256, 1, 1};  // bf16 has no 257: rounding twice gives 256
    const Tensor y = test::make_tensor(rank.device, {1, 1}, DType::bf16, {summands[rank.rank()]});
    const Tensor sum = exchange->from_experts(rank.context, y);
    if (rank.rank() == 0) {
      EXPECT_EQ(test::values_of(sum), std::vector<double>{258});
    }
  });
}

}  // namespace expert_exchange_test
}  // namespace mpitron::ops

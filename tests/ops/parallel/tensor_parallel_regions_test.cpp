#include "ops/parallel/tensor_parallel_regions.h"

#include "ops/gradient_ranks.h"

namespace mpitron::ops {
namespace tensor_parallel_regions_test {

using Region = Var (*)(Context&, Var, comm::Group&);

/// A region as a linear map of all ranks' inputs to all ranks' outputs, [out, in], by feeding unit
/// vectors; its backward must be the transposed map of the conjugate kind.
struct Maps {
  std::vector<std::vector<double>> forward, backward;  // [input element][output element]
};

constexpr Index kRanks = 2, kRows = 4, kColumns = 6;  // of the whole

std::vector<double> outputs(Region region, const Shape& in, Index one, bool backward,
                            const Shape& out) {
  std::vector<double> all(static_cast<std::size_t>(kRanks * (backward ? in : out).numel()));
  on_ranks(kRanks, [&](TestRank& rank) {
    const auto unit = [&](const Shape& shape) {
      std::vector<double> values(static_cast<std::size_t>(shape.numel()), 0.0);
      if (one / shape.numel() == rank.rank()) {
        values[static_cast<std::size_t>(one % shape.numel())] = 1;
      }
      return rank.tensor(shape, values);
    };
    const Var x = autograd::variable(unit(in));
    const Var y = region(rank.context, x, rank.group);
    EXPECT_EQ(y.shape(), out);
    std::vector<double> mine = test::values_of(y.value);
    if (backward) {
      rank.backward(y, unit(out));
      mine = test::values_of(x.slot.gradient());
    }
    std::copy(mine.begin(), mine.end(),
              all.begin() + rank.rank() * static_cast<Index>(mine.size()));
  });
  return all;
}

Maps maps(Region region, const Shape& in, const Shape& out) {
  Maps result;
  for (Index i = 0; i < kRanks * in.numel(); ++i) {
    result.forward.push_back(outputs(region, in, i, false, out));
  }
  for (Index i = 0; i < kRanks * out.numel(); ++i) {
    result.backward.push_back(outputs(region, in, i, true, out));
  }
  return result;
}

struct Pair {
  const char* name;
  Region region, conjugate;
  Shape in, out;
};

const Shape kWhole{kRows, kColumns}, kPieceOfRows{kRows / kRanks, kColumns};

class RegionPairs : public ::testing::TestWithParam<Pair> {};

/// "Backward of one is forward of the other", both ways.
TEST_P(RegionPairs, AreConjugates) {
  const auto [name, region, conjugate, in, out] = GetParam();
  const Maps one = maps(region, in, out), other = maps(conjugate, out, in);
  EXPECT_EQ(one.backward, other.forward);
  EXPECT_EQ(one.forward, other.backward);
}

INSTANTIATE_TEST_SUITE_P(Regions, RegionPairs,
                         ::testing::Values(Pair{"Copy", copy_to_tp, reduce_from_tp, kWhole, kWhole},
                                           Pair{"GatherSequence", gather_from_sp,
                                                reduce_scatter_to_sp, kPieceOfRows, kWhole},
                                           Pair{"ReplicateSequence", replicate_from_sp,
                                                scatter_to_sp, kPieceOfRows, kWhole}),
                         [](const auto& info) { return info.param.name; });

/// What each region computes, on numbers that a reader can check.
TEST(Regions, SumJoinAndCut) {
  on_ranks(2, [](TestRank& rank) {
    const double r = static_cast<double>(rank.rank());
    const auto x = [&] {
      return autograd::variable(rank.tensor({2, 2}, {r, r + 1, r + 2, r + 3}));
    };
    const auto values = [&](Region region) {
      return test::values_of(region(rank.context, x(), rank.group).value);
    };
    using Values = std::vector<double>;
    EXPECT_EQ(values(copy_to_tp), (Values{r, r + 1, r + 2, r + 3}));
    EXPECT_EQ(values(reduce_from_tp), (Values{1, 3, 5, 7}));
    EXPECT_EQ(values(gather_from_tp), (Values{0, 1, 1, 2, 2, 3, 3, 4}));
    EXPECT_EQ(values(gather_from_sp), (Values{0, 1, 2, 3, 1, 2, 3, 4}));
    EXPECT_EQ(values(reduce_scatter_to_sp), rank.rank() == 0 ? (Values{1, 3}) : (Values{5, 7}));
    EXPECT_EQ(values(scatter_to_sp), (Values{3 * r, 3 * r + 1}));
    EXPECT_EQ(values(replicate_from_sp), (Values{0, 1, 2, 3, 1, 2, 3, 4}));
  });
}

TEST(Regions, GatheredColumnsTakeTheirPieceOfTheGradient) {
  on_ranks(2, [](TestRank& rank) {
    const Index r = rank.rank();
    const Var x = autograd::variable(rank.tensor({2, 1}, {0, 0}));
    const Var y = gather_from_tp(rank.context, x, rank.group);
    rank.backward(y, rank.tensor({2, 2}, {1, 2, 3, 4}));
    EXPECT_EQ(test::values_of(x.slot.gradient()),
              r == 0 ? (std::vector<double>{1, 3}) : (std::vector<double>{2, 4}));
  });
}

TEST(Regions, AGroupOfOneGivesTheSameMemoryAndNoNode) {
  on_ranks(1, [](TestRank& rank) {
    for (const Region region : {copy_to_tp, reduce_from_tp, gather_from_tp, gather_from_sp,
                                reduce_scatter_to_sp, replicate_from_sp, scatter_to_sp}) {
      const Var x = autograd::variable(rank.tensor({2, 2}, {1, 2, 3, 4}));
      EXPECT_EQ(region(rank.context, x, rank.group).value.view().data, x.value.view().data);
      EXPECT_EQ(rank.context.recorder.tape->size(), 0u);
    }
  });
}

/// A value that is given away is summed where it lies; one that somebody keeps stays as it is.
TEST(Regions, ASumTakesTheMemoryThatItIsGiven) {
  on_ranks(2, [](TestRank& rank) {
    Var x = autograd::variable(rank.tensor({2}, {1, 2}));
    const void* memory = x.value.view().data;
    const Var kept = reduce_from_tp(rank.context, x, rank.group);
    EXPECT_NE(kept.value.view().data, memory);
    EXPECT_EQ(test::values_of(x.value), (std::vector<double>{1, 2}));
    EXPECT_EQ(reduce_from_tp(rank.context, std::move(x), rank.group).value.view().data, memory);
  });
}

}  // namespace tensor_parallel_regions_test
}  // namespace mpitron::ops

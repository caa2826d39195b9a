#include "kernels/host/attention/attention_bias.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "support/test_values.h"

namespace mpitron::kernels::host::attention {
namespace attention_bias_test {

constexpr Index kQueries = 7, kKeys = 70, kHeads = 3, kDistances = kQueries + kKeys - 1;

/// A problem whose bias lies heads last.
Problem<float> problem_with(const std::vector<float>& bias) {
  Problem<float> problem;
  problem.s = kQueries;
  problem.s_kv = kKeys;
  problem.scale = 0.5f;
  problem.bias = In(bias.data(), DType::f32, {kHeads, kDistances}, {1, kHeads});
  return problem;
}

std::vector<float> random_bias() {
  const std::vector<double> values = test::test_values(kHeads * kDistances, 1);
  return {values.begin(), values.end()};
}

TEST(AttentionBias, IsNothingWhereThereIsNone) {
  Problem<float> problem;
  problem.s = problem.s_kv = 8;
  EXPECT_EQ(HeadBias::words(problem), 0);
  HeadBias none(problem, nullptr);
  none.read(problem, 0);
  Block<1> block;
  for_block<1>([&](int m, int n) { block[m][n] = broadcast(3.f); });
  none.add_to<1>(block, 0, 0);
  none.add<1>(block, 0, 0);
  none.write({}, 0, 0);
  EXPECT_EQ(reduce_add(block[5][0]), 48.f);
}

TEST(AttentionBias, AddsADistancesNumberInUnitsOfRawScores) {
  const std::vector<float> bias = random_bias();
  const Problem<float> problem = problem_with(bias);
  std::vector<float> memory(static_cast<std::size_t>(HeadBias::words(problem)), NAN);
  HeadBias head(problem, memory.data());
  head.read(problem, 2);
  for (const Index row : {0, 6}) {  // the second block sticks out
    Block<2> block;
    for_block<2>([&](int m, int n) { block[m][n] = zero(); });
    head.add_to<2>(block, row, 32);
    for (int m = 0; m < kRows; ++m) {
      alignas(64) float lanes[32];
      store(lanes, block[m][0]);
      store(lanes + 16, block[m][1]);
      for (Index i = 0; i < 32 && row + m < kQueries; ++i) {
        const Index distance = 32 + i - (row + m) + kQueries - 1;
        EXPECT_EQ(lanes[i], 2 * bias[static_cast<std::size_t>(distance * kHeads + 2)]) << row + m;
      }
    }
  }
}

TEST(AttentionBias, SumsBlocksByDistance) {
  const std::vector<float> bias = random_bias();
  const Problem<float> problem = problem_with(bias);
  std::vector<float> memory(static_cast<std::size_t>(HeadBias::words(problem)), NAN);
  HeadBias sums(problem, memory.data());
  sums.clear();
  Block<1> ones;
  for_block<1>([&](int m, int n) { ones[m][n] = broadcast(1.f); });
  sums.add<1>(ones, 0, 0);
  std::vector<float> to(2 * kDistances * kHeads, NAN);
  sums.write(Out(device::TensorView(to.data(), DType::f32, {2, kHeads, kDistances},
                                    {kDistances * kHeads, 1, kHeads})),
             1, 2);
  for (Index i = 0; i < kDistances; ++i) {
    Index pairs = 0;  // of 6 queries and 16 keys at this distance
    for (Index query = 0; query < 6; ++query) {
      const Index key = i - (kQueries - 1) + query;
      pairs += key >= 0 && key < 16 ? 1 : 0;
    }
    EXPECT_EQ(to[static_cast<std::size_t>((kDistances + i) * kHeads + 2)],
              static_cast<float>(pairs));
  }
  EXPECT_EQ(std::count_if(to.begin(), to.end(), [](float x) { return std::isnan(x); }),
            (2 * kHeads - 1) * kDistances);
}

}  // namespace attention_bias_test
}  // namespace mpitron::kernels::host::attention

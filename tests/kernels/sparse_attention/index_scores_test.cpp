#include "kernels/sparse_attention/index_scores.h"

#include "tests/kernels/workbench.h"

namespace mpitron::kernels {
namespace index_scores_test {

/// Heads, their size, positions.
constexpr std::array<Index, 3> kSizes[] = {{1, 3, 1}, {2, 17, 5}, {3, 64, 33}};

TEST(IndexScores, AsTheReference) {
  for (const DType type : kTrainingTypes) {
    for (const auto& [n, d, s] : kSizes) {
      Workbench bench;
      Twin &qk = bench.input(type, {s, 2, n + 1, d}), &weights = bench.input(type, {s, 2, n});
      Twin& scores = bench.output(DType::f32, {2, s, s});
      bench.check(
          [&](Side side) {
            return IndexScores{qk(side), weights(side), scores(side), 0.25F};
          },
          2e-6);
    }
  }
}

TEST(IndexScores, BackwardAsTheReference) {
  for (const DType type : kTrainingTypes) {
    for (const auto& [n, d, s] : kSizes) {
      Workbench bench;
      Twin &qk = bench.input(type, {s, 2, n + 1, d}), &weights = bench.input(type, {s, 2, n});
      Twin& dscores = bench.input(DType::f32, {2, s, s});
      Twin &dqk = bench.output(type, {s, 2, n + 1, d}), &dweights = bench.output(type, {s, 2, n});
      bench.check(
          [&](Side side) {
            return IndexScoresBackward{qk(side),  weights(side),  dscores(side),
                                       dqk(side), dweights(side), 0.25F};
          },
          3e-6);
    }
  }
}

/// Two heads of one number: the first sees a product below 0 and passes none on.
TEST(IndexScores, AProductBelowZeroCountsNothing) {
  TestTensor qk(DType::f32, {1, 1, 3, 1}, {-2, 3, 5}), weights(DType::f32, {1, 1, 2}, {7, 11});
  TestTensor scores(DType::f32, {1, 1, 1}), dscores(DType::f32, {1, 1, 1}, {1});
  run_on_device(IndexScores{qk.view(), weights.view(), scores.view()});
  EXPECT_EQ(scores.values()[0], 3 * 5 * 11);
  TestTensor dqk(DType::f32, {1, 1, 3, 1}), dweights(DType::f32, {1, 1, 2});
  run_on_device(
      IndexScoresBackward{qk.view(), weights.view(), dscores.view(), dqk.view(), dweights.view()});
  EXPECT_EQ(dqk.values(), (std::vector<double>{0, 5 * 11, 3 * 11}));
  EXPECT_EQ(dweights.values(), (std::vector<double>{0, 15}));
}

}  // namespace index_scores_test
}  // namespace mpitron::kernels

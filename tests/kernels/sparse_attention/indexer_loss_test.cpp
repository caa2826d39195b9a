#include "kernels/sparse_attention/indexer_loss.h"

#include "tests/kernels/workbench.h"

namespace mpitron::kernels {
namespace indexer_loss_test {

constexpr Index kPositions = 21;

/// One mask for both samples hides some keys, and all of query 2.
Twin& mask_of(Workbench& bench) {
  Twin& mask = bench.input(DType::u8, {1, kPositions, kPositions});
  std::vector<double> marks;
  for (Index at = 0; at < kPositions * kPositions; ++at) {
    marks.push_back(at / kPositions == 2 || at % 5 == 1 ? 1 : 0);
  }
  mask.fill(marks);
  return mask;
}

TEST(SummedProbabilities, AsTheReference) {
  for (const DType type : kTrainingTypes) {
    for (const bool masked : {true, false}) {
      Workbench bench;
      Twin &q = bench.input(type, {kPositions, 2, 2, 3, 17}),
           &k = bench.input(type, {kPositions, 2, 2, 17});
      Twin &mask = mask_of(bench),
           &probabilities = bench.output(DType::f32, {2, kPositions, kPositions});
      bench.check(
          [&](Side side) {
            return SummedProbabilities{q(side), k(side), masked ? In(mask(side)) : In{},
                                       probabilities(side), 2};
          },
          3e-6);
    }
  }
}

TEST(IndexerLoss, AsTheReference) {
  for (const bool masked : {true, false}) {
    Workbench bench;
    Twin &mask = mask_of(bench), &scores = bench.input(DType::f32, {2, kPositions, kPositions}, 4);
    Twin& probabilities = bench.inout(DType::f32, {2, kPositions, kPositions});
    std::vector<double> values = test_values(2 * kPositions * kPositions, 9);
    for (Index at = 0; at < 2 * kPositions * kPositions; ++at) {
      const Index i = at / kPositions % kPositions, j = at % kPositions;
      const bool visible = VisibleKeys(masked ? In(mask(reference_side)) : In{}, 0, i)(j);
      double& value = values[static_cast<std::size_t>(at)];
      value = j > i || !visible ? 0 : std::abs(value);
    }
    probabilities.fill(values);
    Twin &rows = bench.output(DType::f64, {2, kPositions}), &loss = bench.output(DType::f64, {1});
    bench.check(
        [&](Side side) {
          return IndexerLoss{scores(side),        masked ? In(mask(side)) : In{},
                             probabilities(side), rows(side),
                             loss(side),          0.5};
        },
        2e-6);
  }
}

/// Attention (3 : 1) against even scores; the second half of the gradient is that of the first.
TEST(IndexerLoss, IsTheDistanceOfBothDistributions) {
  TestTensor scores(DType::f32, {1, 2, 2}, {0, 0, 4, 4}), p(DType::f32, {1, 2, 2}, {2, 0, 3, 1});
  TestTensor rows(DType::f64, {1, 2}), loss(DType::f64, {1}), seed(DType::f64, {1}, {3});
  run_on_device(IndexerLoss{scores.view(), {}, p.view(), rows.view(), loss.view(), 0.5});
  const double distance = 0.75 * std::log(0.75 / 0.5) + 0.25 * std::log(0.25 / 0.5);
  EXPECT_NEAR(loss.values()[0], distance / 2, 1e-12);
  run_on_device(IndexerLossBackward{seed.view(), p.view(), 0.5});
  EXPECT_EQ(p.values(), (std::vector<double>{0, 0, -0.375, 0.375}));
}

}  // namespace indexer_loss_test
}  // namespace mpitron::kernels

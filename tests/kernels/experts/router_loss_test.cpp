#include "kernels/experts/router_loss.h"

#include "tests/kernels/workbench.h"

namespace mpitron::kernels {

namespace router_loss_test {

constexpr DType kLogitTypes[] = {DType::f32, DType::bf16, DType::f64};
constexpr BalanceRule kRules[] = {{RouterScore::softmax, 1},
                                  {RouterScore::softmax, 2},
                                  {RouterScore::sigmoid, 1},
                                  {RouterScore::sigmoid, 3},
                                  {RouterScore::sqrt_softplus, 2}};

std::vector<double> some_counts(Index sets, Index experts) {
  std::vector<double> counts;
  for (Index i = 0; i < sets * experts; ++i) {
    counts.push_back(static_cast<double>(i * 7 % 5));
  }
  return counts;
}

TEST(RouterLoss, Counts) {
  for (const BalanceRule& rule : kRules) {
    for (const Index sets : {1, 4}) {
      Workbench bench;
      Twin& logits = bench.input(DType::f32, {4000, 9}, 3);
      Twin& counts = bench.output(DType::f64, {sets, 9});
      bench.check(
          [&](Side side) {
            return BalanceCounts{logits(side), counts(side), {}, rule};
          },
          1e-3);  // of thousands: a score may be rounded past another one
    }
  }
}

TEST(RouterLoss, BalancingLossAndItsGradient) {
  for (const DType dtype : kLogitTypes) {
    for (const BalanceRule& rule : kRules) {
      for (const Index sets : {1, 3}) {
        Workbench bench;
        Twin &logits = bench.input(dtype, {66, 7}, 3), &dloss = bench.input(DType::f64, {1});
        Twin &counts = bench.output(DType::f64, {sets, 7}), &loss = bench.output(DType::f64, {1});
        Twin& dlogits = bench.output(dtype, {66, 7});
        counts.fill(some_counts(sets, 7));
        bench.check(
            [&](Side side) {
              return BalanceLoss{logits(side), counts(side), loss(side), {}, rule, 0.1};
            },
            1e-6);
        bench.check(
            [&](Side side) {
              return BalanceLossBackward{logits(side),  counts(side), dloss(side),
                                         dlogits(side), rule,         0.1};
            },
            2e-6);
      }
    }
  }
}

TEST(RouterLoss, ZLossAndItsGradient) {
  for (const DType dtype : kLogitTypes) {
    Workbench bench;
    Twin &logits = bench.input(dtype, {131, 8}, 5), &dloss = bench.input(DType::f64, {1});
    Twin &loss = bench.output(DType::f64, {1}), &dlogits = bench.output(dtype, {131, 8});
    bench.check([&](Side side) { return RouterZLoss{logits(side), loss(side), {}, 0.01}; }, 1e-6);
    bench.check(
        [&](Side side) {
          return RouterZLossBackward{logits(side), dloss(side), dlogits(side), 0.01};
        },
        2e-6);
  }
}

TEST(ExpertBias, Update) {
  Workbench bench;
  Twin &tokens = bench.input(DType::f64, {9}, 100), &bias = bench.inout(DType::f32, {9});
  bench.check([&](Side side) { return ExpertBiasUpdate{tokens(side), bias(side), 0.001F}; }, 0);
}

}  // namespace router_loss_test

}  // namespace mpitron::kernels

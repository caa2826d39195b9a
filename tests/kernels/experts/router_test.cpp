#include "kernels/experts/router.h"

#include "tests/kernels/workbench.h"

namespace mpitron::kernels {
namespace router_test {

constexpr DType kLogitTypes[] = {DType::f32, DType::bf16, DType::f16, DType::f64};

DType probability_type(DType logits) {
  return logits == DType::f64 ? DType::f64 : DType::f32;
}

struct Case {
  Index experts, topk;
  RoutingRule rule;
};
const Case kCases[] = {{1, 1, {}},
                       {8, 2, {}},
                       {7, 3, {.pre_softmax = true, .scaling = 2.5}},
                       {64, 8, {.score = RouterScore::sigmoid, .groups = 8, .group_topk = 4}},
                       {8, 1, {.score = RouterScore::sigmoid, .scaling = 0.5}},
                       {16, 3, {.score = RouterScore::sqrt_softplus, .scaling = 1.5}}};

TEST(Router, Routing) {
  for (const DType dtype : kLogitTypes) {
    for (const Case& c : kCases) {
      for (const bool biased : {false, true}) {
        Workbench bench;
        Twin &logits = bench.input(dtype, {37, c.experts}, 4),
             &bias = bench.input(DType::f32, {c.experts});
        Twin &experts = bench.output(DType::i64, {37, c.topk}),
             &probabilities = bench.output(probability_type(dtype), {37, c.topk});
        bench.check(
            [&](Side side) {
              TopKRouting kernel{.logits = logits(side),
                                 .experts = experts(side),
                                 .probabilities = probabilities(side),
                                 .rule = c.rule};
              if (biased && c.rule.score != RouterScore::softmax) {
                kernel.expert_bias = bias(side);
              }
              return kernel;
            },
            1e-6);
      }
    }
  }
}

TEST(Router, Backward) {
  for (const DType dtype : kLogitTypes) {
    for (const Case& c : kCases) {
      Workbench bench;
      std::vector<double> chosen;
      for (Index i = 0; i < 37 * c.topk; ++i) {
        chosen.push_back(static_cast<double>((i / c.topk * 3 + i % c.topk) % c.experts));
      }
      Twin &logits = bench.input(dtype, {37, c.experts}, 4),
           &experts = bench.integers(chosen, {37, c.topk}),
           &gradient = bench.input(probability_type(dtype), {37, c.topk});
      Twin& dlogits = bench.output(dtype, {37, c.experts});
      bench.check(
          [&](Side side) {
            return TopKRoutingBackward{logits(side), experts(side), gradient(side), dlogits(side),
                                       c.rule};
          },
          2e-6);
    }
  }
}

TEST(Router, GivenScoresChoose) {
  Workbench bench;
  Twin &logits = bench.input(DType::f32, {50, 6}), &scores = bench.input(DType::f32, {50, 6});
  Twin &experts = bench.output(DType::i64, {50, 2}),
       &probabilities = bench.output(DType::f32, {50, 2});
  bench.check(
      [&](Side side) {
        return TopKRouting{.logits = logits(side),
                           .chosen_by = scores(side),
                           .experts = experts(side),
                           .probabilities = probabilities(side),
                           .rule = {.pre_softmax = true}};
      },
      1e-6);
}

TEST(Router, SinkhornScores) {
  for (const DType dtype : kLogitTypes) {
    for (const Index experts : {1, 5, 16}) {
      Workbench bench;
      Twin& logits = bench.input(dtype, {70, experts}, 3);
      Twin& scores = bench.output(DType::f32, {70, experts});
      bench.check(
          [&](Side side) {
            return Sinkhorn{.logits = logits(side), .scores = scores(side), .workspace = {}};
          },
          1e-4);  // one of the two may stop an iteration earlier
    }
  }
}

TEST(Router, RowsOnManyThreadsAreThoseOfOne) {
  TestTensor logits(DType::f32, {3000, 16}, test_values(48000, 1));
  const auto routed = [&](Index first, Index rows) {
    TestTensor experts(DType::i64, {rows, 4}), probabilities(DType::f32, {rows, 4});
    run_on_device(TopKRouting{.logits = device::slice(logits.view(), 0, first, first + rows),
                              .experts = experts.view(),
                              .probabilities = probabilities.view()});
    return probabilities.bytes();
  };
  std::vector<std::byte> pieces;
  for (Index first = 0; first < 3000; first += 100) {
    const std::vector<std::byte> piece = routed(first, 100);
    pieces.insert(pieces.end(), piece.begin(), piece.end());
  }
  EXPECT_EQ(routed(0, 3000), pieces);
}

}  // namespace router_test
}  // namespace mpitron::kernels

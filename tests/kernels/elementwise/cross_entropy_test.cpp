#include "kernels/elementwise/cross_entropy.h"

#include "tests/kernels/workbench.h"

namespace mpitron::kernels {
namespace cross_entropy_test {

constexpr Index kTokens = 6;

/// Labels inside, at the ends and outside of the vocabulary.
std::vector<double> labels_for(Index v) {
  const auto last = static_cast<double>(v - 1);
  return {0, last, std::floor(last / 2), -1, last + 1, last};
}

template <class F>
void for_cases(F&& f) {
  for (const DType dtype : kTrainingTypes) {
    for (const Index v : {2, 3, 15, 17, 65, 130, 2047, 2049, 5000}) {
      for (const float smoothing : {0.f, 0.1f}) {
        for (const double scale : {1.0, 60.0}) {
          SCOPED_TRACE(::testing::Message() << name_of(dtype) << " v " << v << " smoothing "
                                            << smoothing << " logits to " << scale);
          f(dtype, v, smoothing, scale);
        }
      }
    }
  }
}

TEST(CrossEntropy, Forward) {
  for_cases([](DType dtype, Index v, float smoothing, double scale) {
    Workbench bench({1, 3});
    Twin& logits = bench.input(dtype, {kTokens, v}, scale);
    Twin &labels = bench.integers(labels_for(v)), &loss = bench.output(DType::f32, {kTokens});
    Twin& lse = bench.output(DType::f32, {kTokens});
    bench.check(
        [&](Side side) {
          return CrossEntropyForward{logits(side), labels(side), loss(side), lse(side), smoothing};
        },
        1e-6);  // 2e-7 of exp, the sum's roundings, the logarithm
  });
}

/// The largest logit may lie anywhere, far above those before it.
TEST(CrossEntropy, LargestLogitsAnywhere) {
  constexpr Index kColumns = 13000;
  for (const bool rising : {false, true}) {
    Workbench bench;
    Twin& logits = bench.input(DType::f32, {kTokens, kColumns});
    Twin &labels = bench.integers(labels_for(kColumns)), &sums = bench.output(DType::f32, {6, 4});
    std::vector<double> values = test_values(kTokens * kColumns, 3);
    for (Index row = 0; row < kTokens; ++row) {
      auto* x = values.data() + row * kColumns;
      for (Index i = 0; rising && i < kColumns; ++i) {
        x[i] += 0.02 * static_cast<double>(i);  // to 260
      }
      x[(row + 1) * 2100] += 300;
    }
    logits.fill(values);
    bench.check(
        [&](Side side) {
          return CrossEntropySums{logits(side), labels(side), sums(side), 0, true};
        },
        2e-6);
  }
}

TEST(CrossEntropy, BackwardInPlace) {
  for_cases([](DType dtype, Index v, float smoothing, double scale) {
    Workbench bench({1, 3});
    Twin& logits = bench.inout(dtype, {kTokens, v}, scale);
    Twin &labels = bench.integers(labels_for(v)), &lse = bench.output(DType::f32, {kTokens});
    Twin &dloss = bench.input(DType::f32, {kTokens}), &loss = bench.output(DType::f32, {kTokens});
    device::ReferenceStream reference;
    for (const Side side : {reference_side, tested_side}) {  // the same lse on both sides
      run(reference, CrossEntropyForward{logits(side), labels(side), loss(side), lse(side)});
    }
    bench.check(
        [&](Side side) {
          return CrossEntropyBackward{logits(side), labels(side), lse(side),
                                      dloss(side),  logits(side), smoothing};
        },
        // logits - lse has the absolute error of its operands: half an ulp of 60, exponentiated
        scale > 1 ? 5e-6 : 1e-6);
  });
}

TEST(CrossEntropy, BackwardOfAPartOfTheVocabulary) {
  for_cases([](DType dtype, Index v, float smoothing, double scale) {
    Workbench bench({1, 3});
    Twin& logits = bench.inout(dtype, {kTokens, v}, scale);
    Twin &labels = bench.integers(labels_for(3 * v)), &lse = bench.output(DType::f32, {kTokens});
    Twin& dloss = bench.input(DType::f32, {kTokens});
    lse.fill(std::vector<double>(kTokens, scale + 1));
    bench.check(
        [&](Side side) {
          return CrossEntropyBackward{.logits = logits(side),
                                      .labels = labels(side),
                                      .lse = lse(side),
                                      .dloss = dloss(side),
                                      .dlogits = logits(side),
                                      .label_smoothing = smoothing,
                                      .first_column = 2 * v,
                                      .vocabulary = 3 * v};
        },
        scale > 1 ? 5e-6 : 1e-6);
  });
}

TEST(CrossEntropy, SumsOfAPartOfTheVocabulary) {
  for_cases([](DType dtype, Index v, float smoothing, double scale) {
    Workbench bench({1, 3});
    Twin& logits = bench.input(dtype, {kTokens, v}, scale);
    Twin& labels = bench.integers(labels_for(2 * v));
    TestTensor sums[2] = {TestTensor(DType::f32, {kTokens, 4}),
                          TestTensor(DType::f32, {kTokens, 4})};
    device::ReferenceStream reference;
    const auto kernel = [&](Side side) {
      return CrossEntropySums{logits(side), labels(side), sums[side].view(), v, smoothing > 0};
    };
    run(reference, kernel(reference_side));
    run_on_device(kernel(tested_side));
    const std::vector<double> expected = sums[0].values(), values = sums[1].values();
    for (std::size_t i = 0; i < expected.size(); ++i) {
      const double size = i % 4 == 3 ? scale * static_cast<double>(v) : expected[i];
      EXPECT_NEAR(values[i], expected[i], 1e-6 * (std::abs(size) + 1)) << i;
    }
  });
}

TEST(CrossEntropy, JoinOfRanks) {
  // Largest logit, sum of exponentials, the label's logit, sum of logits; two ranks, three tokens.
  const std::vector<double> numbers = {1, 2, 0.5, 3, 4, 1, 0, 4, -INFINITY, NAN, 0, -2,  //
                                       2, 3, 0,   5, 1, 7, 1, 6, 3,         2,   0, 1};
  for (const float smoothing : {0.f, 0.1f}) {
    TestTensor sums(DType::f32, {2, 3, 4}, numbers);
    TestTensor ids(DType::i64, {3}, {1, 9, -1});
    const In labels = ids.view();
    TestTensor loss[2] = {TestTensor(DType::f32, {3}), TestTensor(DType::f32, {3})};
    TestTensor lse[2] = {TestTensor(DType::f32, {3}), TestTensor(DType::f32, {3})};
    const auto kernel = [&](Side side) {
      return CrossEntropyJoin{sums.view(),      labels, loss[side].view(),
                              lse[side].view(), 10,     smoothing};
    };
    device::ReferenceStream reference;
    run(reference, kernel(reference_side));
    run_on_device(kernel(tested_side));
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_NEAR(loss[1].values()[i], loss[0].values()[i], 2e-6) << i;
      EXPECT_NEAR(lse[1].values()[i], lse[0].values()[i], 2e-6) << i;
    }
    EXPECT_NEAR(lse[0].values()[0], 2 + std::log(3 + 2 * std::exp(-1.0)), 2e-6);
    EXPECT_NEAR(lse[0].values()[2], 3 + std::log(2.0), 2e-6);  // the other rank is all masked
  }
}

TEST(CrossEntropy, MaskedLogits) {  // minus infinity: probability and gradient zero
  std::vector<double> values(40, -INFINITY);
  values[2] = 1;
  values[33] = 2;
  TestTensor logits(DType::f32, {1, 40}, values), loss(DType::f32, {1}), lse(DType::f32, {1});
  TestTensor dloss(DType::f32, {1}, {1});
  TestTensor label(DType::i64, {1}, {2});
  const In labels = label.view();
  run_on_device(CrossEntropyForward{logits.view(), labels, loss.view(), lse.view()});
  EXPECT_NEAR(loss.values()[0], std::log(1 + std::exp(1.)), 1e-6);
  run_on_device(
      CrossEntropyBackward{logits.view(), labels, lse.view(), dloss.view(), logits.view()});
  const double p = 1 / (1 + std::exp(1.));
  for (std::size_t i = 0; i < 40; ++i) {
    EXPECT_NEAR(logits.values()[i], i == 2 ? p - 1 : i == 33 ? 1 - p : 0, 1e-6) << i;
  }
}

}  // namespace cross_entropy_test
}  // namespace mpitron::kernels

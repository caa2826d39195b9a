#include "kernels/cross_entropy.h"
#include "tests/kernels/host_check.h"

namespace mpitron::kernels {
namespace {

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

TEST(HostCrossEntropy, Forward) {
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

TEST(HostCrossEntropy, BackwardInPlace) {
  for_cases([](DType dtype, Index v, float smoothing, double scale) {
    Workbench bench({1, 3});
    Twin& logits = bench.inout(dtype, {kTokens, v}, scale);
    Twin &labels = bench.integers(labels_for(v)), &lse = bench.output(DType::f32, {kTokens});
    Twin &dloss = bench.input(DType::f32, {kTokens}), &loss = bench.output(DType::f32, {kTokens});
    device::ReferenceStream reference;
    for (const Side side : {reference_side, host_side}) {  // the same lse on both sides
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

TEST(HostCrossEntropy, MaskedLogits) {  // minus infinity: probability and gradient zero
  std::vector<double> values(40, -INFINITY);
  values[2] = 1;
  values[33] = 2;
  TestTensor logits(DType::f32, {1, 40}, values), loss(DType::f32, {1}), lse(DType::f32, {1});
  TestTensor dloss(DType::f32, {1}, {1});
  std::int64_t label = 2;
  const In labels(&label, DType::i64, {1});
  device::HostStream stream;
  run(stream, CrossEntropyForward{logits.view(), labels, loss.view(), lse.view()});
  EXPECT_NEAR(loss.values()[0], std::log(1 + std::exp(1.)), 1e-6);
  run(stream, CrossEntropyBackward{logits.view(), labels, lse.view(), dloss.view(), logits.view()});
  const double p = 1 / (1 + std::exp(1.));
  for (std::size_t i = 0; i < 40; ++i) {
    EXPECT_NEAR(logits.values()[i], i == 2 ? p - 1 : i == 33 ? 1 - p : 0, 1e-6) << i;
  }
}

}  // namespace
}  // namespace mpitron::kernels

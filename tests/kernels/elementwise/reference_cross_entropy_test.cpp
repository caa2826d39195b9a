#include "kernels/elementwise/cross_entropy.h"
#include "tests/kernels/golden_tables.h"
#include "tests/kernels/gradient_check.h"

namespace mpitron::kernels {
namespace reference_cross_entropy_test {

device::ReferenceStream stream;

struct Loss {
  Loss(const Shape& shape, const std::vector<double>& logits_, const std::vector<double>& labels_,
       const std::vector<double>& dloss_)
      : logits(DType::f64, shape, logits_),
        labels(DType::i64, {shape[0]}, labels_),
        loss(DType::f64, {shape[0]}),
        lse(DType::f64, {shape[0]}),
        dloss(DType::f64, {shape[0]}, dloss_),
        dlogits(DType::f64, shape) {}

  void forward(float smoothing) {
    run(stream,
        CrossEntropyForward{logits.view(), labels.view(), loss.view(), lse.view(), smoothing});
  }
  void backward(float smoothing) {
    run(stream, CrossEntropyBackward{logits.view(), labels.view(), lse.view(), dloss.view(),
                                     dlogits.view(), smoothing});
  }

  TestTensor logits, labels, loss, lse, dloss, dlogits;
};

TEST(ReferenceCrossEntropy, ByHand) {  // probabilities 1/4, 3/4
  Loss test({2, 2}, {0, std::log(3.0), 0, std::log(3.0)}, {1, -1}, {1, 4});
  test.forward(0);
  test.backward(0);
  // A label outside has no target term: log sum exp(l - max) = log(4 / 3).
  expect_close(test.loss.values(), {std::log(4.0 / 3), std::log(4.0 / 3)}, 1e-14);
  expect_close(test.lse.values(), {std::log(4.0), std::log(4.0)}, 1e-14);
  expect_close(test.dlogits.values(), {0.25, -0.25, 1, 3}, 1e-14);
}

TEST(ReferenceCrossEntropy, BackwardIsTheGradient) {
  for (const float smoothing : {0.f, 0.25f}) {
    Loss test({3, 5}, test_values(15, 1), {0, 4, 2}, {0.5, -1, 2});
    test.forward(smoothing);
    test.backward(smoothing);
    expect_gradient(test.logits, test.dlogits.values(), [&] {
      test.forward(smoothing);
      return weighted_sum(test.loss, test.dloss.values());
    });
  }
}

TEST(ReferenceCrossEntropy, GoldenTable) {
  const auto table = golden_table("cross_entropy");
  if (table.is_null()) {
    GTEST_SKIP() << "no " << test::golden_folder();
  }
  for (const auto& expected : table["cases"]) {
    const auto& targets = expected.contains("targets") ? expected["targets"] : table["targets"];
    const std::vector<double> logits = flatten(table["logits_sbv"]), labels = flatten(targets);
    const auto t = static_cast<Index>(labels.size());
    Loss test({t, static_cast<Index>(logits.size()) / t}, logits, labels,
              flatten(table["upstream_gradient"]));
    const float smoothing = expected.value("label_smoothing", 0.f);
    test.forward(smoothing);
    expect_close(test.loss.values(), flatten(expected["loss"]), 1e-6, 1);
    if (expected.contains("gradient")) {
      test.backward(smoothing);
      const bool fused = expected["kind"] == "fused";  // its gradient is stored in bf16
      expect_close(test.dlogits.values(), flatten(expected["gradient"]), fused ? 1e-2 : 1e-6,
                   fused ? 1e-3 : 1);
    }
  }
}

}  // namespace reference_cross_entropy_test
}  // namespace mpitron::kernels

#include "kernels/elementwise/optimizer.h"
#include "tests/kernels/golden_tables.h"
#include "utils/numbers/exact_sum.h"

namespace mpitron::kernels {
namespace reference_optimizer_test {

device::ReferenceStream stream;

TEST(ReferenceOptimizer, AdamFirstStepByHand) {
  // m = 0.5 g, v = 0.75 g^2, both corrected to g and g^2: the step is lr (sign + decay).
  TestTensor param(DType::f64, {2}, {1, 2}), m(DType::f64, {2}), v(DType::f64, {2});
  TestTensor grad(DType::f64, {2}, {4, -4}), model(DType::bf16, {2});
  AdamStep kernel{param.view(), m.view(), v.view(), grad.view(), model.view()};
  kernel.lr = 0.5f;
  kernel.beta1 = 0.5f;
  kernel.beta2 = 0.25f;
  kernel.eps = 0;
  kernel.weight_decay = 0.25f;
  kernel.bias_correction1 = 0.5f;
  kernel.bias_correction2 = 0.75f;
  kernel.grad_scale = 0.5f;
  run(stream, kernel);
  EXPECT_EQ(param.values(), (std::vector<double>{1 - 0.5 * 1.25, 2 - 0.5 * (-1 + 0.5)}));
  EXPECT_EQ(m.values(), (std::vector<double>{1, -1}));
  EXPECT_EQ(v.values(), (std::vector<double>{3, 3}));
  EXPECT_EQ(model.values(), param.values());
}

TEST(ReferenceOptimizer, SumOfSquaresAndZeros) {
  TestTensor x(DType::bf16, {4}, {3, 0, -4, 0}), sum(DType::i64, {exact_sum::kBins}),
      zeros(DType::i64, {1});
  run(stream, SumOfSquares{x.view(), sum.view()});
  run(stream, CountZeros{x.view(), zeros.view()});
  EXPECT_EQ(exact_sum::value(exact_sum::Bins(sum.view().as<std::int64_t>(), exact_sum::kBins)), 25);
  EXPECT_EQ(zeros.values()[0], 2);
}

std::vector<double> step_by(const nlohmann::json& options, bool adam, int step, TestTensor& param,
                            TestTensor (&state)[2], TestTensor& grad) {
  if (adam) {
    AdamStep kernel{param.view(), state[0].view(), state[1].view(), grad.view(), {}};
    kernel.lr = options["lr"];
    kernel.weight_decay = options["weight_decay"];
    kernel.beta1 = options["beta1"];
    kernel.beta2 = options["beta2"];
    kernel.eps = options["eps"];
    kernel.bias_correction1 =
        static_cast<float>(1 - std::pow(options["beta1"].get<double>(), step));
    kernel.bias_correction2 =
        static_cast<float>(1 - std::pow(options["beta2"].get<double>(), step));
    run(stream, kernel);
  } else {
    SgdStep kernel{param.view(), state[0].view(), grad.view(), {}};
    kernel.lr = options["lr"];
    kernel.weight_decay = options["weight_decay"];
    kernel.momentum = options["momentum"];
    run(stream, kernel);
  }
  return param.values();
}

TEST(ReferenceOptimizer, GoldenSteps) {
  const auto table = golden_table("optimizer_steps");
  if (table.is_null()) {
    GTEST_SKIP() << "no " << test::golden_folder();
  }
  const std::vector<double> start = flatten(table["parameter"]);
  const Shape shape{static_cast<Index>(start.size())};
  for (const auto& expected : table["cases"]) {
    TestTensor param(DType::f64, shape, start);
    TestTensor state[2] = {TestTensor(DType::f64, shape), TestTensor(DType::f64, shape)};
    for (std::size_t step = 0; step < table["gradients"].size(); ++step) {
      TestTensor grad(DType::f64, shape, flatten(table["gradients"][step]));
      const bool adam = expected["name"].get<std::string>().starts_with("adam");
      const std::vector<double> got =
          step_by(expected["options"], adam, static_cast<int>(step) + 1, param, state, grad);
      expect_close(got, flatten(expected["parameter_after_step"][step]), 1e-6, 0.1);
    }
  }
}

}  // namespace reference_optimizer_test
}  // namespace mpitron::kernels

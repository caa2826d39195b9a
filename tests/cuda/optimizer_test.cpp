#include "kernels/optimizer.h"

#include <cmath>

#include "cuda/managed.h"

namespace mpitron {
namespace {

using CudaOptimizer = test::GpuTest;

TEST_F(CudaOptimizer, AdamStepMatchesTheFormula) {
  const Index n = 1003;
  test::Managed<float> param(n), exp_avg(n), exp_avg_sq(n), grad(n);
  test::Managed<BFloat16> model_param(n);
  std::vector<double> expected(static_cast<std::size_t>(n));
  kernels::AdamStep step{param.view(), exp_avg.view(), exp_avg_sq.view(), grad.view(),
                         model_param.view()};
  step.lr = 1e-2f;
  step.weight_decay = 0.1f;
  step.bias_correction1 = 0.19f;
  step.bias_correction2 = 0.002f;
  step.grad_scale = 0.5f;
  for (Index i = 0; i < n; ++i) {
    const double d = static_cast<double>(i);
    param[i] = static_cast<float>(std::sin(d));
    exp_avg[i] = static_cast<float>(0.1 * std::cos(d));
    exp_avg_sq[i] = static_cast<float>(0.01 + 0.001 * std::cos(d));
    grad[i] = static_cast<float>(std::sin(3 * d));
    const double g = grad[i] * 0.5;
    const double m = 0.9 * exp_avg[i] + 0.1 * g;
    const double v = 0.999 * exp_avg_sq[i] + 0.001 * g * g;
    const double update = m / 0.19 / (std::sqrt(v / 0.002) + 1e-8);
    expected[static_cast<std::size_t>(i)] = param[i] - 1e-2 * (update + 0.1 * param[i]);
  }
  run(stream(), step);
  synchronize(stream());
  for (Index i = 0; i < n; ++i) {
    EXPECT_NEAR(param[i], expected[static_cast<std::size_t>(i)], 1e-6);
    EXPECT_EQ(model_param[i].bits, BFloat16(param[i]).bits);
  }
}

}  // namespace
}  // namespace mpitron

#include "kernels/norm.h"

#include <cmath>

#include "cuda/managed.h"

namespace mpitron {
namespace {

using CudaNorm = test::GpuTest;

/// Odd sizes, more columns than threads, and one row.
TEST_F(CudaNorm, RmsNormForwardMatchesTheFormula) {
  for (const auto& [t, h] : {std::pair<Index, Index>{1, 1}, {7, 33}, {5, 257}, {3, 1000}}) {
    test::Managed<float> x(t * h), gamma(h), y(t * h), rstd(t);
    for (Index i = 0; i < t * h; ++i) {
      x[i] = static_cast<float>(std::sin(0.37 * static_cast<double>(i + 1)));
    }
    for (Index i = 0; i < h; ++i) {
      gamma[i] = static_cast<float>(std::cos(0.11 * static_cast<double>(i)));
    }
    kernels::RmsNormForward kernel{x.view({t, h}), gamma.view(), y.view({t, h}), rstd.view()};
    kernel.gamma_offset = 1;
    run(stream(), kernel);
    synchronize(stream());
    for (Index row = 0; row < t; ++row) {
      double sum = 0;
      for (Index i = 0; i < h; ++i) {
        sum += static_cast<double>(x[row * h + i]) * x[row * h + i];
      }
      const double expected = 1 / std::sqrt(sum / static_cast<double>(h) + kernel.eps);
      EXPECT_NEAR(rstd[row], expected, 1e-6 * expected);
      for (Index i = 0; i < h; ++i) {
        EXPECT_NEAR(y[row * h + i], x[row * h + i] * expected * (gamma[i] + 1.0), 1e-5);
      }
    }
  }
}

}  // namespace
}  // namespace mpitron

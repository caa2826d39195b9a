#pragma once
#include <functional>

#include <gtest/gtest.h>

#include "tests/kernels/test_tensor.h"

namespace mpitron::kernels {

/// Compares `gradient` with central differences of `loss` in the fp64 tensor `x`.
inline void expect_gradient(TestTensor& x, const std::vector<double>& gradient,
                            const std::function<double()>& loss, double tolerance = 1e-7) {
  constexpr double kStep = 1e-5;
  const std::vector<double> at = x.values();
  ASSERT_EQ(at.size(), gradient.size());
  const reference::Writer writer(x.view());
  for (std::size_t i = 0; i < at.size(); ++i) {
    writer.set(at[i] + kStep, i);
    const double above = loss();
    writer.set(at[i] - kStep, i);
    const double below = loss();
    writer.set(at[i], i);
    EXPECT_NEAR(gradient[i], (above - below) / (2 * kStep), tolerance) << "element " << i;
  }
}

/// sum of weights * values: a scalar whose gradient with respect to the values is the weights.
inline double weighted_sum(TestTensor& values, const std::vector<double>& weights) {
  const std::vector<double> v = values.values();
  double sum = 0;
  for (std::size_t i = 0; i < v.size(); ++i) {
    sum += v[i] * weights[i];
  }
  return sum;
}

}  // namespace mpitron::kernels

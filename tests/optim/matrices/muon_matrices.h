#pragma once
#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "optim/matrices/muon.h"
#include "support/host_runtime.h"
#include "support/tensors.h"

namespace mpitron::test {

/// Random matrices, and how far they are from orthogonal ones.
class MuonMatrices : public ::testing::Test {
 protected:
  tensor::Tensor random(const Shape& shape) {
    return random_tensor(*device_, shape, DType::f32, ++seed_);
  }
  /// Largest difference of x x^T, or of x^T x where x is tall, from the identity.
  static double distance(const tensor::Tensor& x) {
    const std::vector<double> v = values_of(x);
    const Index m = x.shape()[0], n = x.shape()[1], least = std::min(m, n);
    double worst = 0;
    for (Index i = 0; i < least; ++i) {
      for (Index j = 0; j < least; ++j) {
        double sum = i == j ? -1 : 0;
        for (Index k = 0; k < std::max(m, n); ++k) {
          const Index a = m <= n ? i * n + k : k * n + i, b = m <= n ? j * n + k : k * n + j;
          sum += v[static_cast<std::size_t>(a)] * v[static_cast<std::size_t>(b)];
        }
        worst = std::max(worst, std::abs(sum));
      }
    }
    return worst;
  }
  config::MuonConfig config(config::MuonCoefficients coefficients, Index steps) {
    config::MuonConfig result;
    result.coefficients = coefficients, result.steps = steps, result.fp32_products = true;
    return result;
  }

  std::unique_ptr<device::Device> device_ = device::make_device("reference");
  unsigned seed_ = 0;
};

}  // namespace mpitron::test

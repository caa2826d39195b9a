#include "optim/muon.h"

#include <cmath>

#include <gtest/gtest.h>

#include "support/host_runtime.h"
#include "support/tensors.h"

namespace mpitron::optim {
namespace muon_test {

using tensor::Tensor;

class MuonTest : public ::testing::Test {
 protected:
  Tensor random(const Shape& shape) {
    return test::random_tensor(*device_, shape, DType::f32, ++seed_);
  }
  /// Largest difference of x x^T, or of x^T x where x is tall, from the identity.
  static double distance(const Tensor& x) {
    const std::vector<double> v = test::values_of(x);
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

/// The last triple of this list has the fixed point 1.
TEST_F(MuonTest, ManyStepsMakeRowsOrthogonal) {
  const auto many = config(config::MuonCoefficients::polar_express, 14);
  EXPECT_LT(distance(orthogonalised(*device_, many, random({5, 9}))), 1e-3);
  EXPECT_LT(distance(orthogonalised(*device_, many, random({9, 5}))), 1e-3);
}

TEST_F(MuonTest, AListBeginsAgainOrKeepsItsLastTriple) {
  const Tensor x = random({4, 6});
  const auto after = [&](config::MuonCoefficients kind, Index steps) {
    return test::values_of(orthogonalised(*device_, config(kind, steps), x));
  };
  EXPECT_NE(after(config::MuonCoefficients::quintic, 5),
            after(config::MuonCoefficients::quintic, 6));
  EXPECT_LT(distance(orthogonalised(*device_, config(config::MuonCoefficients::simple, 5), x)),
            0.7);
}

TEST_F(MuonTest, AveragesGradientsAndScalesByTheShape) {
  config::MuonConfig muon = config(config::MuonCoefficients::polar_express, 14);
  muon.momentum = 0.5, muon.scale = config::MuonScale::unit_rms_norm, muon.extra_scale = 3;
  const Tensor gradient = test::make_tensor(*device_, {2}, DType::f32, {3, 4});
  const Tensor momentum = test::make_tensor(*device_, {2}, DType::f32, {0, 0});
  const Tensor average = muon_average(*device_, muon, gradient, momentum, 2).reshape({1, 2});
  const std::vector<double> update = test::values_of(muon_direction(*device_, muon, "w", average));
  EXPECT_EQ(test::values_of(momentum), (std::vector<double>{3, 4}));
  EXPECT_NEAR(update[0], 3 * std::sqrt(0.5) * 0.6, 1e-3);
  EXPECT_NEAR(update[1], 3 * std::sqrt(0.5) * 0.8, 1e-3);
}

/// Two groups of two query rows, a key row and a value row: the keys of all groups are one matrix.
TEST_F(MuonTest, TakesQueriesKeysAndValuesApart) {
  config::MuonConfig muon = config(config::MuonCoefficients::polar_express, 14);
  muon.qkv_rows = {2, 1, 1};
  const Tensor update = muon_direction(
      *device_, muon, "decoder.layers.0.self_attention.linear_qkv.weight", random({8, 16}));
  const Tensor keys = Tensor::empty(*device_, {2, 16}, DType::f32);
  std::vector<double> rows = test::values_of(update), both;
  for (const Index row : {2, 6}) {
    both.insert(both.end(), rows.begin() + row * 16, rows.begin() + (row + 1) * 16);
  }
  for (double& value : both) {
    value /= 4;  // the spectral scale, sqrt(max(2, 16))
  }
  test::set_values(keys, both);
  EXPECT_LT(distance(keys), 1e-3);
}

}  // namespace muon_test
}  // namespace mpitron::optim

#include "optim/matrices/muon.h"

#include "optim/matrices/muon_matrices.h"

namespace mpitron::optim {
namespace muon_test {

using tensor::Tensor;
using MuonTest = test::MuonMatrices;

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

#include "optim/matrices/muon_matrices.h"

namespace mpitron::optim {
namespace newton_schulz_test {

using tensor::Tensor;
using NewtonSchulz = test::MuonMatrices;

/// The last triple of this list has the fixed point 1.
TEST_F(NewtonSchulz, ManyStepsMakeRowsOrthogonal) {
  const auto many = config(config::MuonCoefficients::polar_express, 14);
  EXPECT_LT(distance(orthogonalised(*device_, many, random({5, 9}))), 1e-3);
  EXPECT_LT(distance(orthogonalised(*device_, many, random({9, 5}))), 1e-3);
}

TEST_F(NewtonSchulz, AListBeginsAgainOrKeepsItsLastTriple) {
  const Tensor x = random({4, 6});
  const auto after = [&](config::MuonCoefficients kind, Index steps) {
    return test::values_of(orthogonalised(*device_, config(kind, steps), x));
  };
  EXPECT_NE(after(config::MuonCoefficients::quintic, 5),
            after(config::MuonCoefficients::quintic, 6));
  EXPECT_LT(distance(orthogonalised(*device_, config(config::MuonCoefficients::simple, 5), x)),
            0.7);
}

}  // namespace newton_schulz_test
}  // namespace mpitron::optim

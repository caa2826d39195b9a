#include "kernels/elementwise/token_weights.h"

#include <cmath>

#include "tests/kernels/workbench.h"

namespace mpitron::kernels {
namespace token_weights_test {

TEST(TokenWeights, MaximaAsTheReference) {
  for (const DType type : {DType::f32, DType::f64}) {
    for (const Index v : {1, 63, 64, 65, 1000}) {
      Workbench bench;
      Twin &x = bench.input(type, {v}, 30), &maxima = bench.output(type, {token_blocks(v)});
      bench.check([&](Side side) { return BlockMaxima{x(side), maxima(side)}; }, 0);
    }
  }
}

TEST(TokenWeights, WeightsAsTheReference) {
  for (const DType type : {DType::f32, DType::f64}) {
    for (const Index v : {1, 63, 64, 65, 1000}) {
      for (const double temperature : {0.01, 1.0, 3.0}) {
        Workbench bench;
        Twin& x = bench.input(type, {v}, 8);
        Twin& weights = bench.output(DType::f64, {v});
        Twin& scaled = bench.output(DType::f64, {v});
        Twin& sums = bench.output(DType::f64, {token_blocks(v)});
        bench.check(
            [&](Side side) {
              return TokenWeights{x(side), weights(side), scaled(side), sums(side), temperature, 8};
            },
            1e-14);
        bench.check(
            [&](Side side) {
              return TokenWeights{x(side), Out(), Out(), sums(side), temperature, 8};
            },
            1e-14);
      }
    }
  }
}

TEST(TokenWeights, AreExactOverTheirWholeRange) {
  std::vector<double> x;
  for (double power = -800; power <= 0; power += 0.0831) {
    x.push_back(power);
  }
  x.back() = -INFINITY;
  const auto v = static_cast<Index>(x.size());
  std::vector<double> weights(x.size()), sums(static_cast<std::size_t>(token_blocks(v)));
  run_on_device(TokenWeights{In(x.data(), DType::f64, {v}),
                             device::TensorView(weights.data(), DType::f64, {v}), Out(),
                             device::TensorView(sums.data(), DType::f64, {token_blocks(v)})});
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double want = x[i] < -708 ? 0 : std::exp(x[i]);
    EXPECT_NEAR(weights[i], want, 1e-15 * want) << x[i];
  }
}

}  // namespace token_weights_test
}  // namespace mpitron::kernels

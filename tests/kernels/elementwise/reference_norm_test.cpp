#include "kernels/elementwise/norm.h"
#include "tests/kernels/golden_tables.h"
#include "tests/kernels/gradient_check.h"

namespace mpitron::kernels {
namespace reference_norm_test {

device::ReferenceStream stream;

TEST(ReferenceNorm, RmsByHand) {  // mean(x^2) = (9 + 16) / 2 = 12.5
  TestTensor x(DType::f64, {1, 2}, {3, 4}), gamma(DType::f64, {2}, {0, 1});
  TestTensor y(DType::f64, {1, 2}), rstd(DType::f64, {1});
  RmsNormForward kernel{x.view(), gamma.view(), y.view(), rstd.view()};
  kernel.eps = 0;
  kernel.gamma_offset = 1;
  run(stream, kernel);
  expect_close(y.values(), {3 / std::sqrt(12.5), 8 / std::sqrt(12.5)}, 1e-15);
  expect_close(rstd.values(), {1 / std::sqrt(12.5)}, 1e-15);
}

TEST(ReferenceNorm, LayerNormByHand) {  // mean 2, variance 1
  TestTensor x(DType::f64, {1, 2}, {1, 3}), gamma(DType::f64, {2}, {2, 2});
  TestTensor beta(DType::f64, {2}, {1, 1}), y(DType::f64, {1, 2});
  TestTensor mean(DType::f64, {1}), rstd(DType::f64, {1});
  LayerNormForward kernel{x.view(), gamma.view(), beta.view(), y.view(), mean.view(), rstd.view()};
  kernel.eps = 0;
  run(stream, kernel);
  EXPECT_EQ(y.values(), (std::vector<double>{-1, 3}));
  EXPECT_EQ(mean.values(), (std::vector<double>{2}));
  EXPECT_EQ(rstd.values(), (std::vector<double>{1}));
}

TEST(ReferenceNorm, RmsBackwardIsTheGradient) {
  TestTensor x(DType::f64, {3, 4}, test_values(12, 1)), gamma(DType::f64, {4}, test_values(4, 2));
  TestTensor y(DType::f64, {3, 4}), rstd(DType::f64, {3});
  TestTensor dy(DType::f64, {3, 4}, test_values(12, 3)), dx(DType::f64, {3, 4});
  TestTensor dgamma(DType::f64, {4});
  RmsNormForward forward{x.view(), gamma.view(), y.view(), rstd.view()};
  forward.gamma_offset = 1;
  const auto loss = [&] {
    run(stream, forward);
    return weighted_sum(y, dy.values());
  };
  loss();
  RmsNormBackward backward{x.view(), dy.view(), gamma.view(),  rstd.view(),
                           {},       dx.view(), dgamma.view(), {}};
  backward.gamma_offset = 1;
  run(stream, backward);
  expect_gradient(x, dx.values(), loss);
  expect_gradient(gamma, dgamma.values(), loss);
}

TEST(ReferenceNorm, LayerNormBackwardIsTheGradient) {
  TestTensor x(DType::f64, {3, 4}, test_values(12, 1)), gamma(DType::f64, {4}, test_values(4, 2));
  TestTensor beta(DType::f64, {4}, test_values(4, 4)), y(DType::f64, {3, 4});
  TestTensor mean(DType::f64, {3}), rstd(DType::f64, {3});
  TestTensor dy(DType::f64, {3, 4}, test_values(12, 3)), dx(DType::f64, {3, 4});
  TestTensor dgamma(DType::f64, {4}), dbeta(DType::f64, {4});
  const LayerNormForward forward{x.view(), gamma.view(), beta.view(),
                                 y.view(), mean.view(),  rstd.view()};
  const auto loss = [&] {
    run(stream, forward);
    return weighted_sum(y, dy.values());
  };
  loss();
  run(stream, LayerNormBackward{x.view(),
                                dy.view(),
                                gamma.view(),
                                mean.view(),
                                rstd.view(),
                                {},
                                dx.view(),
                                dgamma.view(),
                                dbeta.view(),
                                {}});
  expect_gradient(x, dx.values(), loss);
  expect_gradient(gamma, dgamma.values(), loss);
  expect_gradient(beta, dbeta.values(), loss);
}

TEST(ReferenceNorm, AccumulatesAndAddsTheResidualGradientInPlace) {
  TestTensor x(DType::f64, {1, 2}, {3, 4}), dy(DType::f64, {1, 2}, {1, 0});
  TestTensor gamma(DType::f64, {2}, {1, 1}), rstd(DType::f64, {1}, {0.5});
  TestTensor plain(DType::f64, {1, 2}), dx(DType::f64, {1, 2}, {10, 20});
  TestTensor dgamma(DType::f64, {2}, {1, 1});
  RmsNormBackward kernel{x.view(), dy.view(),    gamma.view(),  rstd.view(),
                         {},       plain.view(), dgamma.view(), {}};
  run(stream, kernel);
  kernel.dx_add = dx.view();
  kernel.dx = dx.view();
  kernel.accumulate = true;
  run(stream, kernel);
  EXPECT_EQ(dgamma.values(), (std::vector<double>{3, 0}));  // twice dy x rstd = 1.5, 0
  EXPECT_EQ(dx.values(), (std::vector<double>{10 + plain.values()[0], 20 + plain.values()[1]}));
}

}  // namespace reference_norm_test
}  // namespace mpitron::kernels

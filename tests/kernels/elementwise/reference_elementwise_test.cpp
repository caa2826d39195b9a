#include <cmath>

#include <gtest/gtest.h>

#include "kernels/elementwise/elementwise.h"
#include "kernels/elementwise/normal_sample.h"
#include "tests/kernels/test_tensor.h"

namespace mpitron::kernels {
namespace reference_elementwise_test {

device::ReferenceStream stream;

TEST(ReferenceElementwise, ByHand) {
  TestTensor a(DType::f32, {2}, {1, 2}), b(DType::bf16, {2}, {10, 20}), y(DType::f64, {2});
  run(stream, Add{a.view(), b.view(), y.view()});
  EXPECT_EQ(y.values(), (std::vector<double>{11, 22}));
  run(stream, Scale{y.view(), y.view(), 2});
  EXPECT_EQ(y.values(), (std::vector<double>{22, 44}));
  run(stream, Cast{a.view(), y.view()});
  EXPECT_EQ(y.values(), (std::vector<double>{1, 2}));
  run(stream, Fill{y.view(), 3});
  EXPECT_EQ(y.values(), (std::vector<double>{3, 3}));
}

TEST(ReferenceElementwise, MaskedSum) {
  TestTensor x(DType::f32, {3}, {1, 2, 4}), mask(DType::f32, {3}, {1, 0, 1}), y(DType::f64, {2});
  run(stream, MaskedSum{x.view(), mask.view(), y.view()});
  EXPECT_EQ(y.values(), (std::vector<double>{5, 2}));
}

TEST(ReferenceElementwise, NormalInitBelongsToTheGlobalIndex) {
  TestTensor whole(DType::f64, {10}), part(DType::f64, {3});
  run(stream, NormalInit{whole.view(), {1, 2}, 0, 0.5f, 2});
  run(stream, NormalInit{part.view(), {1, 2}, 5, 0.5f, 2});
  const std::vector<double> all = whole.values();
  EXPECT_EQ(part.values(), (std::vector<double>{all[5], all[6], all[7]}));
  // A pair shares its radius: cos^2 + sin^2 = 1.
  const double radius = std::hypot(normal_sample({1, 2}, 4), normal_sample({1, 2}, 5));
  EXPECT_NEAR(radius, std::sqrt(-2 * std::log(uniform_pair({1, 2}, 2).first)), 1e-14);
}

TEST(ReferenceElementwise, NormalInitHasItsMoments) {
  TestTensor x(DType::f64, {40000});
  run(stream, NormalInit{x.view(), {7, 7}, 0, 1, 2});
  double mean = 0;
  double square = 0;
  double fourth = 0;
  for (const double value : x.values()) {
    mean += value / 40000;
    square += std::pow((value - 1) / 2, 2) / 40000;
    fourth += std::pow((value - 1) / 2, 4) / 40000;
  }
  EXPECT_NEAR(mean, 1, 0.04);
  EXPECT_NEAR(square, 1, 0.03);
  EXPECT_NEAR(fourth, 3, 0.2);
}

}  // namespace reference_elementwise_test
}  // namespace mpitron::kernels

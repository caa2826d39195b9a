#pragma once
#include <algorithm>
#include <cmath>
#include <map>

#include <gtest/gtest.h>

#include "kernels/linear/fp8_quantize.h"
#include "ops/linear/linear.h"
#include "support/host_runtime.h"
#include "support/tensors.h"

namespace mpitron::ops::fp8_products_test {

using autograd::Context;
using autograd::Fp8Products;
using autograd::Parameter;
using Scaling = Fp8Products::Scaling;
using tensor::Tensor;
using Numbers = std::vector<double>;

inline constexpr Index kRows = 150, kIn = 200, kOut = 136;

/// What is left of a matrix [rows, columns] after each block was rounded by its own scale, or by
/// the one that `amax` gives.
inline Numbers rounded(const Numbers& x, Index columns, kernels::Fp8Blocks blocks,
                       Fp8Scaling scaling, double amax = 0) {
  const auto count = static_cast<Index>(x.size());
  const auto block = [&](Index i) {
    return std::pair(blocks.row(i / columns), blocks.column(i % columns));
  };
  std::map<std::pair<Index, Index>, double> largest;
  for (Index i = 0; i < count; ++i) {
    double& found = largest[block(i)];
    found = amax > 0 ? amax : std::max(found, std::abs(x[static_cast<std::size_t>(i)]));
  }
  Numbers y;
  for (Index i = 0; i < count; ++i) {
    const float scale = fp8_scale(static_cast<float>(largest[block(i)]), scaling);
    const auto value = static_cast<float>(x[static_cast<std::size_t>(i)]);
    const float number = from_fp8(to_fp8(value * scale, scaling.format), scaling.format);
    y.push_back(static_cast<double>(number) / static_cast<double>(scale));
  }
  return y;
}

/// Sums of a(i, k) b(k, j) over k, [m, n].
inline Numbers product(Index m, Index n, Index k, const auto& a, const auto& b) {
  Numbers c;
  for (Index i = 0; i < m; ++i) {
    for (Index j = 0; j < n; ++j) {
      double sum = 0;
      for (Index l = 0; l < k; ++l) {
        sum += a(i, l) * b(l, j);
      }
      c.push_back(sum);
    }
  }
  return c;
}

inline auto matrix(const Numbers& x, Index columns) {
  return [&x, columns](Index i, Index j) { return x[static_cast<std::size_t>(i * columns + j)]; };
}
inline auto transposed(const Numbers& x, Index columns) {
  return [&x, columns](Index i, Index j) { return x[static_cast<std::size_t>(j * columns + i)]; };
}

inline void expect_near(const Tensor& got, const Numbers& want, double tolerance) {
  const Numbers values = test::values_of(got);
  const double largest =
      std::abs(*std::ranges::max_element(want, {}, [](double value) { return std::abs(value); }));
  ASSERT_EQ(values.size(), want.size());
  for (std::size_t i = 0; i < want.size(); ++i) {
    ASSERT_NEAR(values[i], want[i], tolerance * largest) << i;
  }
}

inline double largest(const Numbers& x) {
  double found = 0;
  for (const double value : x) {
    found = std::max(found, std::abs(value));
  }
  return found;
}

/// One linear layer with products in 8 bits, on a device that the parameter names.
class Fp8ProductsTest : public ::testing::TestWithParam<const char*> {
 protected:
  Fp8ProductsTest() {
    weight_.name = "weight";
    weight_.shape = {kOut, kIn};
    weight_.value = test::random_tensor(*device_, weight_.shape, DType::bf16, 1);
    weight_.sink.main_grad = test::make_tensor(*device_, weight_.shape, DType::f32,
                                               Numbers(static_cast<std::size_t>(kOut * kIn), NAN));
  }
  Context context(autograd::Tape* tape) {
    return {.device = *device_, .recorder = {.tape = tape, .usage = tape}};
  }
  /// Forward and backward of one microbatch.
  void play() {
    weight_.sink.written = false;
    autograd::Tape tape;
    Context cx = context(&tape);
    const autograd::Var x = autograd::variable(x_), y = linear(cx, x, weight_, nullptr);
    y_ = y.value;
    tape.backward(cx, y.slot, dy_);
    dx_ = x.slot.gradient();
  }
  /// Compares with products of these factors (x and dy once along each dimension).
  struct Factors {
    Numbers x, w, dy, x_across, dy_across;
  };
  void expect_products(const Factors& f) const {
    expect_near(y_, product(kRows, kOut, kIn, matrix(f.x, kIn), transposed(f.w, kIn)), 5e-3);
    expect_near(dx_, product(kRows, kIn, kOut, matrix(f.dy, kOut), matrix(f.w, kIn)), 5e-3);
    expect_near(weight_.sink.main_grad,
                product(kOut, kIn, kRows, transposed(f.dy_across, kOut), matrix(f.x_across, kIn)),
                2e-6);
  }

  std::unique_ptr<device::Device> device_ = device::make_device(GetParam());
  Parameter weight_;
  Tensor x_ = test::random_tensor(*device_, {kRows, kIn}, DType::bf16, 2);
  Tensor dy_ = test::random_tensor(*device_, {kRows, kOut}, DType::bf16, 3);
  Tensor y_, dx_;
};

}  // namespace mpitron::ops::fp8_products_test

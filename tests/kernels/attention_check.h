#pragma once
#include <limits>

#include <gtest/gtest.h>

#include "device_under_test.h"
#include "tests/kernels/attention_case.h"

namespace mpitron::kernels {

/// Largest difference over largest value; infinite where one is NaN, or infinite alone.
inline double error(const std::vector<double>& got, const std::vector<double>& expected) {
  double difference = 0, largest = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    if (got[i] == expected[i]) {
      largest = std::isinf(expected[i]) ? largest : std::max(largest, std::abs(expected[i]));
      continue;
    }
    const double delta = std::abs(got[i] - expected[i]);
    difference = std::isfinite(delta) ? std::max(difference, delta)
                                      : std::numeric_limits<double>::infinity();
    largest = std::max(largest, std::abs(expected[i]));
  }
  return difference == 0 ? 0 : difference / (largest > 0 ? largest : 1);
}

/// fp32: sums of some hundred terms with random rounding, 1e-7 each. 16 bits: two roundings of half
/// a unit u (2^-9, 2^-12) in o, P's (magnified by cancellation) and its own, so 3 u; four in the
/// gradients (O, P, dS, their own). lse in bf16 has the error of its exp.
struct Tolerance {
  double o, lse, gradient;
};
inline Tolerance tolerance_of(DType dtype) {
  switch (dtype) {
    case DType::bf16:
      return {0x3p-9, 2e-4, 0x1p-7};
    case DType::f16:
      return {0x3p-12, 1e-6, 0x1p-10};
    default:
      return {kSumErrors * 2e-6, 1e-6, kSumErrors * 5e-6};
  }
}

/// The reference reads the same inputs and keeps its outputs in double.
inline void check(const AttentionCase& c) {
  SCOPED_TRACE(::testing::Message() << c);
  AttentionCase plain = c;
  plain.fused = false;
  AttentionFixture fixture(c), oracle(plain);
  AttentionResults expected(plain, DType::f64, DType::f64), got(c, c.dtype, DType::f32);
  device::ReferenceStream reference;
  run(reference, oracle.forward(expected));
  run(reference, oracle.backward(expected));
  run_on_device(fixture.forward(got));
  run_on_device(fixture.backward(got));
  const Tolerance limit = tolerance_of(c.dtype);
  EXPECT_LE(error(got.o.values(), expected.o.values()), limit.o);
  EXPECT_LE(error(got.lse.values(), expected.lse.values()), limit.lse);
  auto &dx = got.gradients, &want = expected.gradients;
  EXPECT_LE(error(values_of(dx.q()), values_of(want.q())), limit.gradient);
  EXPECT_LE(error(values_of(dx.k()), values_of(want.k())), limit.gradient);
  EXPECT_LE(error(values_of(dx.v()), values_of(want.v())), limit.gradient);
  if (c.bias) {
    EXPECT_LE(error(got.dbias.values(), expected.dbias.values()), limit.gradient);
  }
}

}  // namespace mpitron::kernels

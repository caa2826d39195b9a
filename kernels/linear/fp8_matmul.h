#pragma once
#include "kernels/linear/fp8_quantize.h"

namespace mpitron::kernels {

/// A factor of a product: numbers of 8 bits as Fp8Quantize left them.
struct Fp8Factor {
  In values;  // [rows, k], u8
  In amax;    // [blocks down, blocks across], fp32, any strides
  Fp8Blocks blocks;
  Fp8Scaling scaling;
};

/// c = a b^T + bias, or c += a b^T. Both factors have one scale, or both have blocks with scales
/// that are powers of two.
///
/// Numerical contract
///   types:        bias as c; c fp32 or bf16
///   accumulation: products of numbers of 8 bits are exact, their sums fp32 (reference: double);
///                 sums are divided by the factors' scales (in blocks: the numbers are, which is
///                 exact) and c is rounded once
///   order:        that of kernels/linear/matmul.h
///   outputs:      c `=`, or `+=` with accumulate (then no bias)
struct Fp8Matmul {
  static constexpr const char* name = "fp8_matmul";
  Fp8Factor a;  // [m, k]
  Fp8Factor b;  // [n, k]
  In bias;      // [n], optional
  InOut c;      // [m, n]
  Out workspace;
  bool accumulate = false;

  template <class F>
  void views(F&& f) const {
    f("a", a.values), f("a_amax", a.amax), f("b", b.values), f("b_amax", b.amax), f("bias", bias),
        f("c", c);
  }
  double multiply_adds() const {
    return static_cast<double>(c.numel()) * static_cast<double>(a.values.size(1));
  }
};

/// Refuses arguments that do not fit together.
inline void check(const Fp8Matmul& kernel) {
  const auto fits = [&](const Fp8Factor& factor, Index rows) {
    const Index k = kernel.a.values.size(1);
    return factor.values.dtype == DType::u8 && factor.values.size(0) == rows &&
           factor.values.size(1) == k && factor.amax.size(0) == factor.blocks.down(rows) &&
           factor.amax.size(1) == factor.blocks.across(k) &&
           (factor.blocks.whole() || factor.scaling.power_of_two);
  };
  MPITRON_CHECK(fits(kernel.a, kernel.c.size(0)) && fits(kernel.b, kernel.c.size(1)),
                to_string(kernel.a.values.shape), to_string(kernel.b.values.shape),
                to_string(kernel.c.shape));
  MPITRON_CHECK(kernel.a.blocks.whole() == kernel.b.blocks.whole());
  MPITRON_CHECK(!kernel.accumulate || !kernel.bias);
}

void run(device::ReferenceStream&, const Fp8Matmul&);
void run(device::HostStream&, const Fp8Matmul&);
void run(device::CudaStream&, const Fp8Matmul&);
Index workspace_bytes(const device::HostStream&, const Fp8Matmul&);
Index workspace_bytes(const device::CudaStream&, const Fp8Matmul&);

}  // namespace mpitron::kernels

#pragma once
#include "device/streams.h"
#include "device/tensor_view.h"

namespace mpitron::kernels {

using device::In;
using device::InOut;
using device::Out;

enum class Activation { none, gelu_tanh, gelu_erf, silu, squared_relu, tanh, quick_gelu, sigmoid };

/// c = activation(op(a) op(b) + bias), or c += op(a) op(b). All row-major; a and b may have a row
/// stride.
///
/// Numerical contract
///   types:        a, b fp32, bf16, fp16 or fp64 (the same); c the same type or fp32; bias as a
///   accumulation: fp32 (fp64, reference: double); c is rounded once
///   order:        fixed for a shape: the bits do not depend on the number of threads
///   outputs:      c `=`, or `+=` with accumulate (then no bias and no activation)
struct Matmul {
  static constexpr const char* name = "matmul";
  In a;     // [m, k], or [k, m] with transpose_a
  In b;     // [k, n], or [n, k] with transpose_b
  In bias;  // [n], optional
  InOut c;  // [m, n]
  Out workspace;
  bool transpose_a = false;
  bool transpose_b = false;
  bool accumulate = false;
  Activation activation = Activation::none;

  template <class F>
  void views(F&& f) const {
    f("a", a), f("b", b), f("bias", bias), f("c", c);
  }
  /// Multiply-adds of one launch, for who times it.
  double multiply_adds() const {
    return static_cast<double>(c.numel()) * static_cast<double>(a.size(transpose_a ? 0 : 1));
  }
};

/// Refuses arguments that do not fit together.
inline void check(const Matmul& kernel) {
  const Index k = kernel.a.size(kernel.transpose_a ? 0 : 1);
  MPITRON_CHECK(kernel.b.size(kernel.transpose_b ? 1 : 0) == k, k, to_string(kernel.b.shape));
  MPITRON_CHECK(kernel.a.size(kernel.transpose_a ? 1 : 0) == kernel.c.size(0) &&
                    kernel.b.size(kernel.transpose_b ? 0 : 1) == kernel.c.size(1),
                to_string(kernel.a.shape), to_string(kernel.b.shape), to_string(kernel.c.shape));
  MPITRON_CHECK(kernel.a.dtype == kernel.b.dtype, name_of(kernel.a.dtype), name_of(kernel.b.dtype));
  MPITRON_CHECK(!kernel.accumulate || (!kernel.bias && kernel.activation == Activation::none));
}

void run(device::ReferenceStream&, const Matmul&);
void run(device::HostStream&, const Matmul&);
void run(device::CudaStream&, const Matmul&);
Index workspace_bytes(const device::HostStream&, const Matmul&);
Index workspace_bytes(const device::CudaStream&, const Matmul&);

/// db[n] = (or +=) the sum of dy[t, n] over t.
///
/// Numerical contract: fp32 sums (reference: double) over blocks of rows cut by t alone, blocks
/// added in order; db fp32 or as dy.
struct BiasGradient {
  static constexpr const char* name = "bias_gradient";
  In dy;     // [t, n]
  InOut db;  // [n]
  Out workspace;
  bool accumulate = false;

  template <class F>
  void views(F&& f) const {
    f("dy", dy), f("db", db);
  }
};

void run(device::ReferenceStream&, const BiasGradient&);
void run(device::HostStream&, const BiasGradient&);
void run(device::CudaStream&, const BiasGradient&);
Index workspace_bytes(const device::HostStream&, const BiasGradient&);
Index workspace_bytes(const device::CudaStream&, const BiasGradient&);

}  // namespace mpitron::kernels

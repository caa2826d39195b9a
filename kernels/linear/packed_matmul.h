#pragma once
#include "device/streams.h"
#include "device/tensor_view.h"

namespace mpitron::kernels {

using device::In;
using device::Out;

// Products with a weight that is packed once and read often: generation. A step reads each weight
// once for all its rows.

/// Output features that lie side by side in a packed weight.
inline constexpr Index kPackedColumns = 16;

/// Elements of a packed weight [n, k]: blocks of sixteen output features, in each [k, 16]; the last
/// block is filled up with zeros.
inline constexpr Index packed_elements(Index n, Index k) {
  return (n + kPackedColumns - 1) / kPackedColumns * kPackedColumns * k;
}

/// Numerical contract: values are rounded once to packed's type, to nearest even.
struct PackWeight {
  static constexpr const char* name = "pack_weight";
  In weight;   // [n, k], fp32, bf16 or fp16; rows may have a stride
  Out packed;  // [packed_elements(n, k)], fp32, bf16 or fp16

  template <class F>
  void views(F&& f) const {
    f("weight", weight), f("packed", packed);
  }
};

/// y = x weight^T (+ bias).
///
/// Numerical contract
///   types:        x and y fp32, bf16 or fp16, the same; packed and bias any of them
///   accumulation: fp32 (reference: double), over k in rising order with one rounding for each
///                 multiplication and addition; bias is added last, y is rounded once
///   bits:         those of a row depend on that row alone: not on m nor on the number of threads
struct PackedMatmul {
  static constexpr const char* name = "packed_matmul";
  In x;       // [m, k], rows may have a stride
  In packed;  // [packed_elements(n, k)]
  In bias;    // [n], optional
  Out y;      // [m, n], rows may have a stride
  Out workspace;

  template <class F>
  void views(F&& f) const {
    f("x", x), f("packed", packed), f("bias", bias), f("y", y);
  }
};

void run(device::ReferenceStream&, const PackWeight&);
void run(device::ReferenceStream&, const PackedMatmul&);
void run(device::HostStream&, const PackWeight&);
void run(device::HostStream&, const PackedMatmul&);
Index workspace_bytes(const device::HostStream&, const PackedMatmul&);

}  // namespace mpitron::kernels

#pragma once
#include "device/streams.h"
#include "device/tensor_view.h"
#include "kernels/linear/packed_formats.h"

namespace mpitron::kernels {

using device::In;
using device::Out;

// Products with a weight that is packed once and read often: generation. A step reads each weight
// once for all its rows.

/// Numerical contract
///   fp32, bf16, fp16: values are rounded once, to nearest even
///   int8:             scale = largest magnitude of the feature's weights / 127
///   q4:               32 weights of a feature share a scale: that of largest magnitude / -8
///   bits:             the same on every device; a GPU packs int8 and q4 alone
struct PackWeight {
  static constexpr const char* name = "pack_weight";
  In weight;   // [n, k], fp32, bf16 or fp16; rows may have a stride
  Out packed;  // [packed_bytes(format, n, k)], u8
  WeightFormat format = WeightFormat::fp32;

  template <class F>
  void views(F&& f) const {
    f("weight", weight), f("packed", packed);
  }
};

/// y = x weight^T (+ bias), or the same for each of some heads with weights of their own.
///
/// Numerical contract
///   types:        x and y fp32, bf16 or fp16, the same; bias any of them
///   numbers:      sums in fp32 (reference: double) over k in rising order with one rounding for
///                 each multiplication and addition; where x and weight are both bf16 the products
///                 are exact, and the processor's instructions for them say in which order
///                 neighbouring ones are added
///   int8, q4:     x is rounded to 8 bits, 256 (32) inputs of a row with one scale; sums of such a
///                 group are exact, and are multiplied by the scales and added in fp32, in rising
///                 order
///   on a GPU:     int8 and q4 alone; k is cut into slices by k alone, and the sums of slices, each
///                 made as above, are added in rising order
///   outputs:      bias is added last, y is rounded once
///   bits:         those of a row depend on that row alone: not on m nor on the number of threads
struct PackedMatmul {
  static constexpr const char* name = "packed_matmul";
  In x;       // [m, k] or [m, heads, k], any strides but a contiguous last dimension
  In packed;  // [packed_bytes(format, n, k)], u8, for each head
  In bias;    // [n], optional; not with heads
  Out y;      // [m, n] or [m, heads, n], as x
  Out workspace;
  WeightFormat format = WeightFormat::fp32;

  Index heads() const { return x.shape.rank() == 3 ? x.size(1) : 1; }
  Index inputs() const { return x.size(-1); }
  Index outputs() const { return y.size(-1); }
  template <class F>
  void views(F&& f) const {
    f("x", x), f("packed", packed), f("bias", bias), f("y", y);
  }
};

/// Refuses arguments that do not fit together.
inline void check(const PackWeight& kernel) {
  const Index n = kernel.weight.size(0), k = kernel.weight.size(1);
  const Index bytes = packed_bytes(kernel.format, n, k);
  MPITRON_CHECK(kernel.packed.numel() == bytes && kernel.packed.dtype == DType::u8, bytes, n, k);
}
inline void check(const PackedMatmul& kernel) {
  const Index n = kernel.outputs(), k = kernel.inputs();
  const Index bytes = kernel.heads() * packed_bytes(kernel.format, n, k);
  MPITRON_CHECK(kernel.packed.numel() == bytes, kernel.packed.numel(), n, k);
  MPITRON_CHECK(kernel.x.size(0) == kernel.y.size(0) && kernel.x.dtype == kernel.y.dtype,
                kernel.x.size(0), kernel.y.size(0));
}

void run(device::ReferenceStream&, const PackWeight&);
void run(device::ReferenceStream&, const PackedMatmul&);
void run(device::HostStream&, const PackWeight&);
void run(device::HostStream&, const PackedMatmul&);
void run(device::CudaStream&, const PackWeight&);
void run(device::CudaStream&, const PackedMatmul&);
Index workspace_bytes(const device::HostStream&, const PackedMatmul&);
Index workspace_bytes(const device::CudaStream&, const PackedMatmul&);

}  // namespace mpitron::kernels

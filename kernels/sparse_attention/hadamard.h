#pragma once
#include "device/streams.h"
#include "device/tensor_view.h"

namespace mpitron::kernels {

using device::InOut;

/// Each row x of d numbers, d a power of two, becomes H x / sqrt(d), where H is the Hadamard matrix
/// of Sylvester's order: H[i, j] = -1 where i and j share an odd number of set bits, else 1. It is
/// its own inverse and its own transpose, so the backward pass is the same.
///
/// Numerical contract: x fp32, bf16, fp16 (reference: also fp64), contiguous, in place; sums of
/// pairs in fp32 (reference: double), of neighbours first, one factor and one rounding at the end.
struct Hadamard {
  static constexpr const char* name = "hadamard";
  InOut x;  // [.., d]

  template <class F>
  void views(F&& f) const {
    f("x", x);
  }
};

void run(device::ReferenceStream&, const Hadamard&);
void run(device::HostStream&, const Hadamard&);

}  // namespace mpitron::kernels

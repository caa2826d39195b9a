#pragma once
#include "device/streams.h"
#include "device/tensor_view.h"

namespace mpitron::kernels {

using device::In;
using device::InOut;

/// Rotates pairs of the first 2r components of every head in place (RoFormer, Su et al. 2021); the
/// rest stays. Halves: pairs (i, i + r). Interleaved: pairs (2i, 2i + 1). (a, b) -> (a cos - b sin,
/// b cos + a sin); `inverse` negates sin: that is the backward pass.
///
/// Numerical contract
///   types:      x fp32, bf16, fp16 (reference: also fp64); tables as x; any strides but a
///               contiguous last dimension
///   arithmetic: fp32 (reference: double), one rounding
struct RotaryEmbedding {
  static constexpr const char* name = "rotary_embedding";
  /// A view of queries or keys, alone or within fused ones.
  InOut x;      // [s, b, n, d]
  In cos, sin;  // [s, r], rows are the positions of x's rows
  bool interleaved = false;
  /// Turns back by the same angles.
  bool inverse = false;

  template <class F>
  void views(F&& f) const {
    f("x", x), f("cos", cos), f("sin", sin);
  }
};

/// Rotates in place: every pair is read before it is written, pairs do not overlap.
void run(device::ReferenceStream&, const RotaryEmbedding&);
void run(device::HostStream&, const RotaryEmbedding&);
void run(device::CudaStream&, const RotaryEmbedding&);

}  // namespace mpitron::kernels

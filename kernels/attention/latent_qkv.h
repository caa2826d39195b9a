#pragma once
#include "device/streams.h"
#include "device/tensor_view.h"

namespace mpitron::kernels {

using device::In;
using device::Out;

// The fused qkv of latent attention (DeepSeek-V2, Liu et al. 2024) from its up projections. Head i
// is its query, its key and its value side by side: the query's dq components without positions
// and dr rotated ones; dq components of kv and dr rotated ones that all heads share; dv components
// of kv. Rotation turns the pairs (2j, 2j + 1) of the first 2r of the dr components where they
// stand. (The reference moves pair j to j and j + r, in queries and keys alike: the same scores.)
//
// Numerical contract
//   types:      fp32, bf16, fp16, all the same (reference: also fp64); contiguous
//   arithmetic: copies; a rotation in fp32 (reference: double) with one rounding; the gradient of
//               the shared part is added over the heads in their order in fp32 (reference:
//               double), rounded, and rotated back
//   outputs:    all `=`

struct LatentQkvForward {
  static constexpr const char* name = "latent_qkv_forward";
  In q;         // [s, b, n, dq + dr]
  In kv;        // [s, b, n, dq + dv]
  In k_rope;    // [s, b, dr]
  In cos, sin;  // [s, r]; optional: nothing is rotated
  Out qkv;      // [s, b, n, 2 (dq + dr) + dv]

  template <class F>
  void views(F&& f) const {
    f("q", q), f("kv", kv), f("k_rope", k_rope), f("cos", cos), f("sin", sin), f("qkv", qkv);
  }
};

struct LatentQkvBackward {
  static constexpr const char* name = "latent_qkv_backward";
  In d_qkv;     // as qkv
  In cos, sin;  // as forward
  Out d_q, d_kv, d_k_rope;

  template <class F>
  void views(F&& f) const {
    f("d_qkv", d_qkv), f("cos", cos), f("sin", sin);
    f("d_q", d_q), f("d_kv", d_kv), f("d_k_rope", d_k_rope);
  }
};

/// Components of one head.
struct LatentWidths {
  Index plain = 0, rotary = 0, value = 0;  // dq, dr, dv

  template <class Query, class KeyValue, class Rotary>
  static LatentWidths of(const Query& q, const KeyValue& kv, const Rotary& k_rope) {
    const Index plain = q.size(3) - k_rope.size(2);
    return {plain, k_rope.size(2), kv.size(3) - plain};
  }
  constexpr Index key() const { return plain + rotary; }
  constexpr Index fused() const { return 2 * key() + value; }
};

void run(device::ReferenceStream&, const LatentQkvForward&);
void run(device::ReferenceStream&, const LatentQkvBackward&);
void run(device::HostStream&, const LatentQkvForward&);
void run(device::HostStream&, const LatentQkvBackward&);
void run(device::CudaStream&, const LatentQkvForward&);
void run(device::CudaStream&, const LatentQkvBackward&);

}  // namespace mpitron::kernels

#pragma once
#include "device/streams.h"
#include "device/tensor_view.h"

namespace mpitron::kernels {

using device::In;
using device::InOut;

/// Attention over some keys, joined with attention over others: what online softmax does between
/// blocks (Dao et al. 2022; ring attention: Liu et al. 2023).
///
/// With L = log(exp(lse) + exp(part_lse)): o = exp(lse - L) o + exp(part_lse - L) part_o, lse = L.
/// Where both are -inf (no key seen yet), o stays 0.
///
/// Numerical contract: fp32 (reference: also fp64, in double); contiguous.
/// The larger of both lse is taken off before exp, so that nothing overflows.
struct AttentionMerge {
  static constexpr const char* name = "attention_merge";
  /// Attention so far, normalised, and the logarithm of what it was divided by.
  /// Both are read and written in place.
  InOut o;    // [s, b, n, d]
  InOut lse;  // [b, n, s]
  /// Attention to keys that o has not seen, in the same form.
  In part_o;    // [s, b, n, d]
  In part_lse;  // [b, n, s]

  template <class F>
  void views(F&& f) const {
    f("o", o), f("lse", lse), f("part_o", part_o), f("part_lse", part_lse);
  }
};

/// Each row is joined alone: any division over threads has the same bits.
void run(device::ReferenceStream&, const AttentionMerge&);
void run(device::HostStream&, const AttentionMerge&);
void run(device::CudaStream&, const AttentionMerge&);

}  // namespace mpitron::kernels

#pragma once
#include "device/streams.h"
#include "device/tensor_view.h"
#include "kernels/sparse_attention/visible_keys.h"

namespace mpitron::kernels {

using device::Out;

/// Marks the keys that a query may not look at: all but the `topk` best scored ones of those that
/// it sees. Of equal scores the lower position is chosen; NaN counts as less than any number. A
/// query that sees no more than topk keys looks at them all.
///
/// Numerical contract: scores fp32 (reference: also fp64), contiguous; hidden `=`.
struct IndexChoice {
  static constexpr const char* name = "index_choice";
  In scores;   // [b, s, s]
  In mask;     // [b or 1, s or 1, s], u8, 1 = hidden from all heads; optional
  Out hidden;  // [b, s, s], u8
  Index topk = 1;

  template <class F>
  void views(F&& f) const {
    f("scores", scores), f("mask", mask), f("hidden", hidden);
  }
};

void run(device::ReferenceStream&, const IndexChoice&);
void run(device::HostStream&, const IndexChoice&);

}  // namespace mpitron::kernels

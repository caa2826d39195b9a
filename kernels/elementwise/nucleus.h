#pragma once
#include "device/streams.h"
#include "device/tensor_view.h"
#include "kernels/elementwise/token_weights.h"

namespace mpitron::kernels {

using device::InOut;

// Finds the likeliest tokens that together have a given mass. Nothing is sorted but the few around
// the border.

/// Finds the lightest weight of a nucleus: the largest w for which weights of at least w sum up to
/// more than `mass`. Weights of a block whose sum is 0 count as 0, whatever they are.
///
/// Numerical contract
///   types:      fp64
///   arithmetic: sums in fp64, in an order that depends on the weights alone; the answer is one of
///               the weights
struct NucleusBorder {
  static constexpr const char* name = "nucleus_border";
  In weights;       // [v], from 0 to 1
  In sums;          // [token_blocks(v)]
  Out border;       // [3]: w, the sum of what is heavier, and how many weigh w; all 0 where the
                    // weights have no more than the mass
  Out workspace;    // of workspace_bytes
  double mass = 0;  // not below 0

  template <class F>
  void views(F&& f) const {
    f("weights", weights), f("sums", sums), f("border", border);
  }
};

/// Finds the ids of all weights of one value, ascending. Weights of a block whose sum is below that
/// value are none, whatever they are.
///
/// Numerical contract
///   types:      fp64, ids int64
///   arithmetic: none, and no rounding
struct AlikeWeights {
  static constexpr const char* name = "alike_weights";
  In weights;         // [v]
  In sums;            // [token_blocks(v)]
  Out ids;            // [v], of which the first `count` are written
  Out count;          // int64 [1]
  double weight = 0;  // above 0

  template <class F>
  void views(F&& f) const {
    f("weights", weights), f("sums", sums), f("ids", ids), f("count", count);
  }
};

/// Makes weights below the least 0, and sums up what is left of each block; a block whose sum is 0
/// stays as it is.
///
/// Numerical contract
///   types:      fp64
///   sums:       as those of TokenWeights
struct KeepWeights {
  static constexpr const char* name = "keep_weights";
  InOut weights;  // [v]
  InOut sums;     // [token_blocks(v)]
  double least = 0;

  template <class F>
  void views(F&& f) const {
    f("weights", weights), f("sums", sums);
  }
};

Index workspace_bytes(const device::HostStream&, const NucleusBorder&);

void run(device::ReferenceStream&, const NucleusBorder&);
void run(device::ReferenceStream&, const AlikeWeights&);
void run(device::ReferenceStream&, const KeepWeights&);
void run(device::HostStream&, const NucleusBorder&);
void run(device::HostStream&, const AlikeWeights&);
void run(device::HostStream&, const KeepWeights&);

}  // namespace mpitron::kernels

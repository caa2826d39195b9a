#pragma once
#include "device/streams.h"
#include "device/tensor_view.h"

namespace mpitron::kernels {

using device::In;
using device::InOut;
using device::Out;

/// Divides lines of a matrix, its rows or its columns, by the root of an average of their mean
/// squares (NorMuon, Li et al. 2025):
///   moments = beta moments + (1 - beta) mean of x^2 over the line
///   y = x / sqrt(max(moments, eps))
///
/// Numerical contract
///   types:      fp32 (reference: also fp64), contiguous
///   arithmetic: fp64, moments and y rounded once; sums over a line in order
///   outputs:    y `=` (may be x), moments in place
struct MomentScale {
  static constexpr const char* name = "moment_scale";
  In x;           // [m, n]
  InOut moments;  // [m], or [n] with `columns`
  Out y;          // [m, n]
  double beta = 0.95, eps = 1e-8;
  bool columns = false;

  template <class F>
  void views(F&& f) const {
    f("x", x), f("moments", moments), f("y", y);
  }
};

void run(device::ReferenceStream&, const MomentScale&);
void run(device::HostStream&, const MomentScale&);

}  // namespace mpitron::kernels

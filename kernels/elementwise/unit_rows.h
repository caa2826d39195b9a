#pragma once
#include "device/streams.h"
#include "device/tensor_view.h"

namespace mpitron::kernels {

using device::In;
using device::InOut;
using device::Out;

// Numerical contract of both kernels
//   types:      x, gain, y, dy of one type: fp32, bf16, fp16 (reference: also fp64); dx like x or
//               fp32, dgain like dx; norm fp32 (reference: also fp64); all contiguous
//   arithmetic: fp32 (reference: double); sums within a row in a fixed order
//   outputs:    `=`; dx and dgain `+=` with accumulate

/// y[t] = gain[t] x[t] / max(|x[t]|, eps): rows of length 1, or as long as their gain (weight
/// normalisation, Salimans and Kingma 2016).
struct UnitRowsForward {
  static constexpr const char* name = "unit_rows_forward";
  In x;      // [t, h]
  In gain;   // [t], optional
  Out y;     // [t, h]
  Out norm;  // [t], |x|, kept for backward
  float eps = 1e-12f;

  template <class F>
  void views(F&& f) const {
    f("x", x), f("gain", gain), f("y", y), f("norm", norm);
  }
};

/// With u = x / max(|x|, eps): dgain[t] = dy u, dx = gain / max(|x|, eps) (dy - u (dy u)); a row no
/// longer than eps is a constant multiple of x, without the last term.
struct UnitRowsBackward {
  static constexpr const char* name = "unit_rows_backward";
  In x, dy;     // [t, h]
  In gain;      // [t], optional
  In norm;      // [t]
  InOut dx;     // [t, h]
  InOut dgain;  // [t], optional
  float eps = 1e-12f;
  bool accumulate = false;

  template <class F>
  void views(F&& f) const {
    f("x", x), f("dy", dy), f("gain", gain), f("norm", norm), f("dx", dx), f("dgain", dgain);
  }
};

void run(device::ReferenceStream&, const UnitRowsForward&);
void run(device::ReferenceStream&, const UnitRowsBackward&);
void run(device::HostStream&, const UnitRowsForward&);
void run(device::HostStream&, const UnitRowsBackward&);
void run(device::CudaStream&, const UnitRowsForward&);
void run(device::CudaStream&, const UnitRowsBackward&);

}  // namespace mpitron::kernels

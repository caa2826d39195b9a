#pragma once
#include "device/streams.h"
#include "device/tensor_view.h"

namespace mpitron::kernels {

using device::In;
using device::Out;

// Numerical contract of all kernels
//   types:      x, dx fp32, bf16, fp16 (reference: also fp64); target like x or fp32; error,
//               derror, matches fp32 (reference: also fp64); labels int64; all contiguous
//   arithmetic: fp32 (reference: double); sums within a row in a fixed order
//   outputs:    `=`

/// error[t] = factor * sum_j (x[t, j] - target[t, j])^2.
struct RowErrorForward {
  static constexpr const char* name = "row_error_forward";
  In x, target;  // [t, h]
  Out error;     // [t]
  float factor = 1;

  template <class F>
  void views(F&& f) const {
    f("x", x), f("target", target), f("error", error);
  }
};

/// dx[t, j] = 2 factor (x[t, j] - target[t, j]) derror[t].
struct RowErrorBackward {
  static constexpr const char* name = "row_error_backward";
  In x, target;  // [t, h]
  In derror;     // [t]
  Out dx;        // [t, h]
  float factor = 1;

  template <class F>
  void views(F&& f) const {
    f("x", x), f("target", target), f("derror", derror), f("dx", dx);
  }
};

/// matches[t] = 1 where the first of the largest logits is the label's, else 0.
struct LabelMatches {
  static constexpr const char* name = "label_matches";
  In logits;    // [t, v]
  In labels;    // [t]
  Out matches;  // [t]

  template <class F>
  void views(F&& f) const {
    f("logits", logits), f("labels", labels), f("matches", matches);
  }
};

void run(device::ReferenceStream&, const RowErrorForward&);
void run(device::ReferenceStream&, const RowErrorBackward&);
void run(device::ReferenceStream&, const LabelMatches&);
void run(device::HostStream&, const RowErrorForward&);
void run(device::HostStream&, const RowErrorBackward&);
void run(device::HostStream&, const LabelMatches&);
void run(device::CudaStream&, const RowErrorForward&);
void run(device::CudaStream&, const RowErrorBackward&);
void run(device::CudaStream&, const LabelMatches&);

}  // namespace mpitron::kernels

#pragma once
#include "device/streams.h"
#include "device/tensor_view.h"

namespace mpitron::kernels {

using device::InOut;

/// The end of a step for tensors whose scales follow from earlier steps. A tensor's row holds the
/// largest value that its scale is made from, and behind it those of the steps before, newest
/// first. The first becomes that of the step which ends, `amax`, or with `largest` the largest of
/// it and all behind; where that is 0 it stays. Then the row takes amax in, and amax becomes 0.
///
/// Numerical contract: fp32, exact.
struct Fp8HistoryUpdate {
  static constexpr const char* name = "fp8_history_update";
  InOut rows;  // [tensors, steps], contiguous
  InOut amax;  // [tensors]
  bool largest = false;

  template <class F>
  void views(F&& f) const {
    f("rows", rows), f("amax", amax);
  }
};

/// Of one tensor, whose row has `size` numbers. What is constexpr also runs on GPUs.
constexpr void advance_fp8_history(float* row, Index size, float& amax, bool largest) {
  float used = amax;
  for (Index i = 1; largest && i < size; ++i) {
    used = used < row[i] ? row[i] : used;
  }
  row[0] = used > 0 ? used : row[0];
  for (Index i = size - 1; i > 1; --i) {
    row[i] = row[i - 1];
  }
  if (size > 1) {
    row[1] = amax;
  }
  amax = 0;
}

void run(device::ReferenceStream&, const Fp8HistoryUpdate&);
void run(device::HostStream&, const Fp8HistoryUpdate&);
void run(device::CudaStream&, const Fp8HistoryUpdate&);

}  // namespace mpitron::kernels

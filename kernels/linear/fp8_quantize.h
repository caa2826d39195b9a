#pragma once

#include "device/streams.h"
#include "device/tensor_view.h"
#include "utils/numbers/float8.h"

namespace mpitron::kernels {

using device::In;
using device::InOut;
using device::Out;

/// Blocks of a matrix [t, h] whose elements share a scale.
struct Fp8Blocks {
  Index rows = 0, columns = 0;  // of a block; 0: all

  constexpr Index rows_of(Index t) const { return rows > 0 ? rows : t; }
  constexpr Index columns_of(Index h) const { return columns > 0 ? columns : h; }
  constexpr Index row(Index i) const { return rows > 0 ? i / rows : 0; }
  constexpr Index column(Index i) const { return columns > 0 ? i / columns : 0; }
  constexpr Index down(Index t) const { return rows > 0 ? (t + rows - 1) / rows : 1; }
  constexpr Index across(Index h) const { return columns > 0 ? (h + columns - 1) / columns : 1; }
  constexpr bool whole() const { return rows == 0 && columns == 0; }
};

/// The largest absolute value of each block, of what is finite: amax = it, or with `accumulate` the
/// larger of it and amax.
///
/// Numerical contract: x fp32, bf16 or fp16, amax fp32; exact: the same bits on every device.
struct Fp8Amax {
  static constexpr const char* name = "fp8_amax";
  In x;        // [t, h]
  InOut amax;  // [blocks down, blocks across]
  Out workspace;
  Fp8Blocks blocks;
  bool accumulate = false;

  template <class F>
  void views(F&& f) const {
    f("x", x), f("amax", amax);
  }
};

/// y = fp8(x scale): the bits of numbers of 8 bits (float8.h), with the scale of each block.
///
/// Numerical contract: x fp32, bf16 or fp16, times fp8_scale(amax) in fp32, rounded to nearest even
/// and cut to the format's range: the same bits on every device.
struct Fp8Quantize {
  static constexpr const char* name = "fp8_quantize";
  In x;              // [t, h]
  In amax;           // [blocks down, blocks across], fp32
  Out y;             // [t, h], or with transpose [h, t or more], zeros behind; u8
  Fp8Blocks blocks;  // of x
  Fp8Scaling scaling;
  bool transpose = false;

  template <class F>
  void views(F&& f) const {
    f("x", x), f("amax", amax), f("y", y);
  }
};

/// Refuses arguments that do not fit together.
inline void check(const Fp8Amax& kernel) {
  MPITRON_CHECK(kernel.amax.dtype == DType::f32 &&
                    kernel.amax.size(0) == kernel.blocks.down(kernel.x.size(0)) &&
                    kernel.amax.size(1) == kernel.blocks.across(kernel.x.size(1)),
                to_string(kernel.x.shape), to_string(kernel.amax.shape));
}
inline void check(const Fp8Quantize& kernel) {
  const Index t = kernel.x.size(0), h = kernel.x.size(1);
  MPITRON_CHECK(kernel.amax.dtype == DType::f32 && kernel.amax.size(0) == kernel.blocks.down(t) &&
                    kernel.amax.size(1) == kernel.blocks.across(h),
                to_string(kernel.x.shape), to_string(kernel.amax.shape));
  MPITRON_CHECK(kernel.y.dtype == DType::u8 && kernel.y.size(0) == (kernel.transpose ? h : t) &&
                    (kernel.transpose ? kernel.y.size(1) >= t : kernel.y.size(1) == h),
                to_string(kernel.x.shape), to_string(kernel.y.shape));
}

void run(device::ReferenceStream&, const Fp8Amax&);
void run(device::ReferenceStream&, const Fp8Quantize&);
void run(device::HostStream&, const Fp8Amax&);
void run(device::HostStream&, const Fp8Quantize&);
void run(device::CudaStream&, const Fp8Amax&);
void run(device::CudaStream&, const Fp8Quantize&);
Index workspace_bytes(const device::CudaStream&, const Fp8Amax&);

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

/// Advances the history of one tensor, whose row has `size` numbers. What is constexpr also runs on
/// GPUs.
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

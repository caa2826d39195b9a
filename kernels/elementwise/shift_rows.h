#pragma once
#include "device/streams.h"
#include "device/tensor_view.h"

namespace mpitron::kernels {

using device::In;
using device::Out;

/// Moves rows up by one inside each of the equal parts of x: y[i] = x[i + 1], and the last row of
/// part j is after[j], or zeros where that is absent. Two parts are the two ranges that a rank
/// holds with context parallelism.
///
/// Numerical contract: copies of any type; contiguous.
struct ShiftRows {
  static constexpr const char* name = "shift_rows";
  In x;             // [s, b]
  In first_after;   // [b], behind part 0; optional
  In second_after;  // [b], behind part 1; optional
  Index parts = 1;  // 1 or 2
  Out y;            // [s, b]

  template <class F>
  void views(F&& f) const {
    f("x", x), f("first_after", first_after), f("second_after", second_after), f("y", y);
  }
};

void run(device::ReferenceStream&, const ShiftRows&);
void run(device::HostStream&, const ShiftRows&);
void run(device::CudaStream&, const ShiftRows&);

}  // namespace mpitron::kernels

#pragma once
#include "device/streams.h"
#include "device/tensor_view.h"
#include "utils/numbers/philox.h"

namespace mpitron::kernels {

using device::In;
using device::InOut;
using device::Out;

// Numerical contract: fp32, bf16, fp16 in any mixture; fp32 arithmetic, one rounding. Fill, Cast
// and Add also fp64, in double (reference: all). Views are contiguous except where a row stride is
// named.

/// x = value.
struct Fill {
  static constexpr const char* name = "fill";
  Out x;
  float value = 0;

  template <class F>
  void views(F&& f) const {
    f("x", x);
  }
};

/// y = x, converted to y's type; both are [..., h] with any strides but a contiguous last
/// dimension. Also int64 to int64.
struct Cast {
  static constexpr const char* name = "cast";
  In x;
  Out y;

  template <class F>
  void views(F&& f) const {
    f("x", x), f("y", y);
  }
};

/// y = a + b; y may be a or b.
struct Add {
  static constexpr const char* name = "add";
  In a, b;
  Out y;

  template <class F>
  void views(F&& f) const {
    f("a", a), f("b", b), f("y", y);
  }
};

/// y = x * factor; y may be x.
struct Scale {
  static constexpr const char* name = "scale";
  In x;
  Out y;
  float factor = 1;

  template <class F>
  void views(F&& f) const {
    f("x", x), f("y", y);
  }
};

/// average = momentum average + (1 - momentum) x.
struct MovingAverage {
  static constexpr const char* name = "moving_average";
  InOut average;
  In x;
  float momentum = 0;

  template <class F>
  void views(F&& f) const {
    f("average", average), f("x", x);
  }
};

/// y = [sum of mask * x, sum of mask]; the reduction of a loss over its mask. Sums in fp64, in
/// order.
struct MaskedSum {
  static constexpr const char* name = "masked_sum";
  In x, mask;  // [t], fp32
  Out y;       // [2], fp64

  template <class F>
  void views(F&& f) const {
    f("x", x), f("mask", mask), f("y", y);
  }
};

/// x[i] = mean + std * normal(key, first_index + i): Box-Muller on Philox counted by the element's
/// global index, in fp64, so that weights do not depend on layout or device. Element 2j takes the
/// cosine, 2j + 1 the sine of counter j. With a pitch x is [rows, n] with any row stride, and the
/// global index of row r's first element is first_index + r * pitch (columns of a larger matrix).
struct NormalInit {
  static constexpr const char* name = "normal_init";
  Out x;
  Philox::Key key{};
  Index first_index = 0;
  float mean = 0, std = 1;
  Index pitch = 0;

  template <class F>
  void views(F&& f) const {
    f("x", x);
  }
};

void run(device::ReferenceStream&, const Fill&);
void run(device::ReferenceStream&, const Cast&);
void run(device::ReferenceStream&, const Add&);
void run(device::ReferenceStream&, const Scale&);
void run(device::ReferenceStream&, const MovingAverage&);
void run(device::ReferenceStream&, const MaskedSum&);
void run(device::ReferenceStream&, const NormalInit&);
void run(device::HostStream&, const Fill&);
void run(device::HostStream&, const Cast&);
void run(device::HostStream&, const Add&);
void run(device::HostStream&, const Scale&);
void run(device::HostStream&, const MovingAverage&);
void run(device::HostStream&, const MaskedSum&);
void run(device::HostStream&, const NormalInit&);
void run(device::CudaStream&, const Fill&);
void run(device::CudaStream&, const Cast&);
void run(device::CudaStream&, const Add&);
void run(device::CudaStream&, const Scale&);
void run(device::CudaStream&, const MovingAverage&);
void run(device::CudaStream&, const MaskedSum&);
void run(device::CudaStream&, const NormalInit&);

}  // namespace mpitron::kernels

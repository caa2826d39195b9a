#pragma once
#include <algorithm>
#include <array>
#include <cmath>

#include "device/streams.h"
#include "device/tensor_view.h"
#include "kernels/linear/packed_formats.h"
#include "utils/numbers/dtype.h"

// Weights that are kept, in 4 bits: NormalFloat (Dettmers et al. 2023, "QLoRA"), sixteen values
// that normally distributed numbers meet equally often. 64 weights of a row share a scale, which is
// their largest magnitude in fp16: 4.25 bits a weight. Scales are not rounded again: groups of
// scales would depend on how ranks cut the weight.

namespace mpitron::kernels {

using device::In;
using device::Out;

/// Weights of a row that share a scale.
inline constexpr Index kNormalFloatGroup = 64;

/// Values of the codes 0 .. 15, times the scale: those of bitsandbytes.
inline constexpr std::array<float, 16> kNormalFloats = {-1.0F,
                                                        -0.6961928009986877F,
                                                        -0.5250730514526367F,
                                                        -0.39491748809814453F,
                                                        -0.28444138169288635F,
                                                        -0.18477343022823334F,
                                                        -0.09105003625154495F,
                                                        0.0F,
                                                        0.07958029955625534F,
                                                        0.16093020141124725F,
                                                        0.24611230194568634F,
                                                        0.33791524171829224F,
                                                        0.44070982933044434F,
                                                        0.5626170039176941F,
                                                        0.7229568362236023F,
                                                        1.0F};

/// Scale of weights whose largest magnitude is given.
inline Float16 normal_float_scale(float largest) {
  return Float16(std::min(largest, 65504.F));
}

/// The code next to a weight; `reciprocal`: reciprocal_of the scale. Of two equally near
/// codes the lower one.
constexpr std::uint8_t normal_float_code(float weight, float reciprocal) {
  const float x = weight * reciprocal;
  std::uint8_t code = 0;
  for (std::size_t i = 0; i + 1 < kNormalFloats.size(); ++i) {
    code += x > (kNormalFloats[i] + kNormalFloats[i + 1]) * 0.5F ? 1 : 0;
  }
  return code;
}

/// Numerical contract: scales and codes are made in fp32 by the functions above; the same bits on
/// every device.
struct PackNormalFloat {
  static constexpr const char* name = "pack_normal_float";
  In weight;   // [n, k], 64 divides k; rows may have a stride
  Out codes;   // [n, k / 2], u8: the first of two weights in the high half
  Out scales;  // [n, k / 64], fp16

  template <class F>
  void views(F&& f) const {
    f("weight", weight), f("codes", codes), f("scales", scales);
  }
};

/// weight = the code's value times the scale.
///
/// Numerical contract: one multiplication in fp32, rounded once to the weight's type; the same bits
/// on every device.
struct UnpackNormalFloat {
  static constexpr const char* name = "unpack_normal_float";
  In codes;    // [n, k / 2], u8
  In scales;   // [n, k / 64], fp16
  Out weight;  // [n, k]

  template <class F>
  void views(F&& f) const {
    f("codes", codes), f("scales", scales), f("weight", weight);
  }
};

/// Refuses arguments that do not fit together: either kernel's.
template <class Kernel>
void check_normal_float(const Kernel& kernel) {
  const Index n = kernel.weight.size(0), k = kernel.weight.size(1);
  MPITRON_CHECK(k % kNormalFloatGroup == 0, k);
  MPITRON_CHECK(kernel.codes.shape == Shape({n, k / 2}) && kernel.codes.dtype == DType::u8,
                to_string(kernel.codes.shape), to_string(kernel.weight.shape));
  MPITRON_CHECK(
      kernel.scales.shape == Shape({n, k / kNormalFloatGroup}) && kernel.scales.dtype == DType::f16,
      to_string(kernel.scales.shape), to_string(kernel.weight.shape));
}

void run(device::ReferenceStream&, const PackNormalFloat&);
void run(device::ReferenceStream&, const UnpackNormalFloat&);
void run(device::HostStream&, const PackNormalFloat&);
void run(device::HostStream&, const UnpackNormalFloat&);
void run(device::CudaStream&, const PackNormalFloat&);
void run(device::CudaStream&, const UnpackNormalFloat&);

}  // namespace mpitron::kernels

#pragma once
#include <limits>

#include "kernels/linear/matmul.h"

namespace mpitron::kernels {

// Numerical contract of all four kernels
//   types:      all of one type: fp32, bf16, fp16 (reference: also fp64)
//   arithmetic: fp32 (reference: double), one rounding at the end; host exp and tanh within 2e-7
//               relative
//   outputs:    `=`; dx may be dy or x itself
//   formulas:   gelu_tanh 0.5 x (1 + tanh(0.79788456 x (1 + 0.044715 x^2))),
//               gelu_erf 0.5 x (1 + erf(x / sqrt 2)), silu x / (1 + exp(-x)),
//               squared_relu max(x, 0)^2, tanh, quick_gelu x / (1 + exp(-1.702 x)),
//               sigmoid 1 / (1 + exp(-x))

/// y = activation(x + bias).
struct BiasActivationForward {
  static constexpr const char* name = "bias_activation_forward";
  In x;     // [t, f]
  In bias;  // [f], optional
  Out y;    // [t, f]
  Activation activation = Activation::gelu_tanh;

  template <class F>
  void views(F&& f) const {
    f("x", x), f("bias", bias), f("y", y);
  }
};

/// dx = dy * slope(x + bias).
struct BiasActivationBackward {
  static constexpr const char* name = "bias_activation_backward";
  In x, dy;  // [t, f]
  In bias;   // [f], optional
  Out dx;    // [t, f]
  Activation activation = Activation::gelu_tanh;

  template <class F>
  void views(F&& f) const {
    f("x", x), f("dy", dy), f("bias", bias), f("dx", dx);
  }
};

/// Bounds of a gated activation's inputs: the gate is at most `clamp`, the linear half lies within
/// +-clamp (no gradient passes what is cut off); `offset` is added to the linear half. gpt-oss has
/// clamp 7 and offset 1.
struct GateLimits {
  float clamp = std::numeric_limits<float>::infinity();
  float offset = 0;
  bool active() const { return offset != 0 || clamp < std::numeric_limits<float>::infinity(); }
};

/// y = activation(gate + bias) * (up + bias), x = [gate, up] along the last dimension (SwiGLU:
/// Shazeer 2020), within `limits`.
struct GatedActivationForward {
  static constexpr const char* name = "gated_activation_forward";
  In x;     // [t, 2f]
  In bias;  // [2f], optional
  Out y;    // [t, f]
  Activation activation = Activation::silu;
  GateLimits limits;

  template <class F>
  void views(F&& f) const {
    f("x", x), f("bias", bias), f("y", y);
  }
};

/// dx = [dy linear slope(gate), dy activation(gate)], where nothing was cut off.
struct GatedActivationBackward {
  static constexpr const char* name = "gated_activation_backward";
  In x;     // [t, 2f]
  In dy;    // [t, f]
  In bias;  // [2f], optional
  Out dx;   // [t, 2f]
  Activation activation = Activation::silu;
  GateLimits limits;

  template <class F>
  void views(F&& f) const {
    f("x", x), f("dy", dy), f("bias", bias), f("dx", dx);
  }
};

void run(device::ReferenceStream&, const BiasActivationForward&);
void run(device::ReferenceStream&, const BiasActivationBackward&);
void run(device::ReferenceStream&, const GatedActivationForward&);
void run(device::ReferenceStream&, const GatedActivationBackward&);
void run(device::HostStream&, const BiasActivationForward&);
void run(device::HostStream&, const BiasActivationBackward&);
void run(device::HostStream&, const GatedActivationForward&);
void run(device::HostStream&, const GatedActivationBackward&);
void run(device::CudaStream&, const BiasActivationForward&);
void run(device::CudaStream&, const BiasActivationBackward&);
void run(device::CudaStream&, const GatedActivationForward&);
void run(device::CudaStream&, const GatedActivationBackward&);

}  // namespace mpitron::kernels

#pragma once
#include "device/streams.h"
#include "device/tensor_view.h"

namespace mpitron::kernels {

using device::In;
using device::Out;

// Numerical contract: all of one type, fp32, bf16 or fp16 (reference: also fp64), contiguous rows;
// arithmetic in fp32 (reference: double), one rounding at the end; outputs `=`.

/// y = x sigmoid(gate).
struct SigmoidGateForward {
  static constexpr const char* name = "sigmoid_gate_forward";
  In x, gate;  // [t, f]
  Out y;       // [t, f]

  template <class F>
  void views(F&& f) const {
    f("x", x), f("gate", gate), f("y", y);
  }
};

/// dx = dy sigmoid(gate), dgate = dy x sigmoid'(gate).
struct SigmoidGateBackward {
  static constexpr const char* name = "sigmoid_gate_backward";
  In x, gate, dy;  // [t, f]
  Out dx, dgate;   // [t, f]; dx may be dy

  template <class F>
  void views(F&& f) const {
    f("x", x), f("gate", gate), f("dy", dy), f("dx", dx), f("dgate", dgate);
  }
};

void run(device::ReferenceStream&, const SigmoidGateForward&);
void run(device::ReferenceStream&, const SigmoidGateBackward&);
void run(device::HostStream&, const SigmoidGateForward&);
void run(device::HostStream&, const SigmoidGateBackward&);
void run(device::CudaStream&, const SigmoidGateForward&);
void run(device::CudaStream&, const SigmoidGateBackward&);

}  // namespace mpitron::kernels

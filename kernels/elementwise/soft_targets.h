#pragma once
#include "device/streams.h"
#include "device/tensor_view.h"

namespace mpitron::kernels {

using device::In;
using device::InOut;
using device::Out;

// Numerical contract of all kernels
//   types:      x, logits, dlogits fp32, bf16, fp16 (reference: also fp64); centre, targets, loss,
//               lse, dloss fp32 (reference: also fp64); sources int64; all contiguous
//   arithmetic: fp32 (reference: double); sums within a row in a fixed order
//   outputs:    `=`

/// y[t] = softmax((x[t] - centre) / temperature): the target that a teacher gives its student
/// (DINO: Caron et al. 2021).
struct SharpSoftmax {
  static constexpr const char* name = "sharp_softmax";
  In x;       // [t, v]
  In centre;  // [v]
  Out y;      // [t, v]
  float temperature = 1;

  template <class F>
  void views(F&& f) const {
    f("x", x), f("centre", centre), f("y", y);
  }
};

/// loss[t] = - sum_k p[k] log softmax(logits[t] / temperature)[k], where p is the mean of the rows
/// of `targets` that `sources` names: one or two, -1 stands for none. Each sums up to 1.
struct SoftTargetForward {
  static constexpr const char* name = "soft_target_forward";
  In logits;      // [t, v]
  In targets;     // [n, v]
  In sources;     // [t, 2]
  Out loss, lse;  // [t]; log sum exp(logits / temperature), kept for backward
  float temperature = 1;

  template <class F>
  void views(F&& f) const {
    f("logits", logits), f("targets", targets), f("sources", sources), f("loss", loss),
        f("lse", lse);
  }
};

/// dlogits[t] = dloss[t] / temperature (softmax(logits[t] / temperature) - p); dlogits may be
/// logits.
struct SoftTargetBackward {
  static constexpr const char* name = "soft_target_backward";
  In logits;      // [t, v]
  In targets;     // [n, v]
  In sources;     // [t, 2]
  In lse, dloss;  // [t]
  Out dlogits;    // [t, v]
  float temperature = 1;

  template <class F>
  void views(F&& f) const {
    f("logits", logits), f("targets", targets), f("sources", sources), f("lse", lse),
        f("dloss", dloss), f("dlogits", dlogits);
  }
};

void run(device::ReferenceStream&, const SharpSoftmax&);
void run(device::ReferenceStream&, const SoftTargetForward&);
void run(device::ReferenceStream&, const SoftTargetBackward&);
void run(device::HostStream&, const SharpSoftmax&);
void run(device::HostStream&, const SoftTargetForward&);
void run(device::HostStream&, const SoftTargetBackward&);
void run(device::CudaStream&, const SharpSoftmax&);
void run(device::CudaStream&, const SoftTargetForward&);
void run(device::CudaStream&, const SoftTargetBackward&);

}  // namespace mpitron::kernels

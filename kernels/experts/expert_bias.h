#pragma once
#include "device/streams.h"
#include "device/tensor_view.h"

namespace mpitron::kernels {

using device::In;
using device::InOut;
using device::Out;

/// bias[e] += rate * sign(mean of tokens - tokens[e]): experts with few tokens become more likely
/// (Wang et al. 2024).
///
/// Numerical contract: tokens fp64, bias fp32; the reference's fp32 arithmetic, bit for bit.
struct ExpertBiasUpdate {
  static constexpr const char* name = "expert_bias_update";
  In tokens;   // [E]
  InOut bias;  // [E]
  float rate = 0;

  template <class F>
  void views(F&& f) const {
    f("tokens", tokens), f("bias", bias);
  }
};

void run(device::ReferenceStream&, const ExpertBiasUpdate&);
void run(device::HostStream&, const ExpertBiasUpdate&);
void run(device::CudaStream&, const ExpertBiasUpdate&);

}  // namespace mpitron::kernels

#pragma once
#include "kernels/linear/fp8_matmul.h"

namespace mpitron::kernels::cuda {

/// Computes the reciprocals of two factors' scales on the GPU, where cuBLASLt reads them: the
/// scales of this step are never known to the host.
struct Fp8Factors {
  static constexpr const char* name = "fp8_factors";
  In a_amax, b_amax;  // [1, 1], fp32
  Out factors;        // [2 kFactorStride], fp32: the first of each stride
  Fp8Scaling a_scaling, b_scaling;
};

void run(device::CudaStream&, const Fp8Factors&);

}  // namespace mpitron::kernels::cuda

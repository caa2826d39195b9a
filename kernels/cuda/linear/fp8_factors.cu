#include "kernels/cuda/common/element.cuh"
#include "kernels/cuda/common/launch.cuh"
#include "kernels/cuda/linear/fp8_factors.h"
#include "kernels/linear/gemm_choice.h"

namespace mpitron::kernels::cuda {
namespace {

/// Makes both factors by a single thread.
__global__ void find_factors(const float* a_amax, const float* b_amax, float* factors,
                             Fp8Scaling a_scaling, Fp8Scaling b_scaling) {
  factors[0] = 1 / fp8_scale(*a_amax, a_scaling);
  factors[kFactorStride] = 1 / fp8_scale(*b_amax, b_scaling);
}

}  // namespace

void run(device::CudaStream& stream, const Fp8Factors& k) {
  launch(stream, k.name, {1, 1}, find_factors, elements<float>(k.a_amax), elements<float>(k.b_amax),
         elements<float>(k.factors), k.a_scaling, k.b_scaling);
}

}  // namespace mpitron::kernels::cuda

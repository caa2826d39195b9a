// Numerical contract: products and sums in fp32, each thread's share of a row in its order, then
// over threads as warp_reduce does.
#include "kernels/cuda/attention/attention_kernels.h"
#include "kernels/cuda/attention/attention_problem.cuh"
#include "kernels/cuda/common/launch.cuh"
#include "kernels/cuda/common/reduce.cuh"

namespace mpitron::kernels::cuda::attention {
namespace {

template <class T>
struct DeltaArguments {
  InputHeads<T> o, d_o;
  float* delta;  // [b, n, s]
  Index s, samples, heads;
};

/// delta = rowsum(o d_o): threads of the same threadIdx.y, some of a warp, sum a row.
template <class T>
__global__ void attention_deltas(const __grid_constant__ DeltaArguments<T> a) {
  const Index rows = a.s * a.samples * a.heads, width = a.o.columns;
  const Index step = static_cast<Index>(gridDim.x) * blockDim.y;
  for (Index first = static_cast<Index>(blockIdx.x) * blockDim.y; first < rows; first += step) {
    const Index row = first + threadIdx.y;
    const Index head = row % a.heads, sample = row / a.heads % a.samples;
    const Index query = row / a.heads / a.samples;
    const T* const o = a.o.of(sample, head).data + query * a.o.strides.s;
    const T* const d_o = a.d_o.of(sample, head).data + query * a.d_o.strides.s;
    float sum = 0;
    for_packs(row < rows ? width : 0, a.o.aligned && a.d_o.aligned, {threadIdx.x, blockDim.x},
              [&](Index i, auto pack) {
                const auto x = load(o + i, pack), y = load(d_o + i, pack);
                for (int k = 0; k < pack; ++k) {
                  sum += x[k] * y[k];
                }
              });
    sum = warp_reduce(sum, Sum{}, static_cast<int>(blockDim.x));
    if (threadIdx.x == 0 && row < rows) {
      a.delta[(sample * a.heads + head) * a.s + query] = sum;
    }
  }
}

}  // namespace

/// Computes delta of each row before the gradients, which both of their passes read.
void run_deltas(device::CudaStream& stream, const AttentionBackward& kernel) {
  if (kernel.lse.numel() == 0) {
    return;
  }
  visit_element(kernel.q.dtype, [&]<class T>() {
    const DeltaArguments<T> arguments{InputHeads<T>(kernel.o),
                                      InputHeads<T>(kernel.d_o),
                                      static_cast<float*>(kernel.workspace.data),
                                      kernel.lse.size(2),
                                      kernel.lse.size(0),
                                      kernel.lse.size(1)};
    const unsigned lanes = arguments.o.columns <= 8 * kPack    ? 8
                           : arguments.o.columns <= 16 * kPack ? 16
                                                               : 32;
    const unsigned rows = kThreads / lanes;
    launch(stream, "attention_backward: deltas",
           {blocks_for(kernel.lse.numel(), rows), dim3(lanes, rows)}, attention_deltas<T>,
           arguments);
  });
}

}  // namespace mpitron::kernels::cuda::attention

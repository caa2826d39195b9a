// Numerical contract: that of preference.h; a column is summed by one thread.
#include "kernels/cuda/common/vector.cuh"
#include "kernels/elementwise/preference.h"

namespace mpitron::kernels {
namespace {

using namespace cuda;

__global__ void weighted_column_sums(const float* x, const float* weights, Index s, Index b,
                                     double* sums) {
  for_packs(b, false, thread_of_grid(), [&](Index j, auto) {
    double sum = 0;
    for (Index i = j; i < s * b; i += b) {
      sum += static_cast<double>(weights[i]) * static_cast<double>(x[i]);
    }
    sums[j] = sum;
  });
}

struct Pairs {
  const double* sums;
  const float* reference;
  float *loss, *margin, *right, *slope;
  double beta, smoothing;
};

/// log(1 + e^x) without an overflow.
__device__ double softplus_of(double x) {
  return fmax(x, 0.0) + log1p(exp(-fabs(x)));
}

__global__ void preference_forward(const __grid_constant__ Pairs a, Index b) {
  for_packs(b, false, thread_of_grid(), [&](Index j, auto) {
    const double e = a.smoothing;
    const double m = a.beta * (-a.sums[j] - static_cast<double>(a.reference[j]));
    const double wrong = 1 / (1 + exp(m));
    a.loss[j] = static_cast<float>((1 - e) * softplus_of(-m) + e * softplus_of(m));
    a.margin[j] = static_cast<float>(m);
    a.right[j] = m > 0 ? 1.F : 0.F;
    a.slope[j] = static_cast<float>(a.beta * ((1 - e) * wrong - e * (1 - wrong)));
  });
}

struct PairGradients {
  const float *weights, *slope, *dloss;
  float* dx;
  double factor;
};

__global__ void preference_backward(const __grid_constant__ PairGradients a, Index n, Index b) {
  for_packs(n, false, thread_of_grid(), [&](Index i, auto) {
    const double each = a.factor * static_cast<double>(a.slope[i % b]);
    a.dx[i] = static_cast<float>(each * static_cast<double>(a.weights[i]) *
                                 static_cast<double>(a.dloss[i % b]));
  });
}

}  // namespace

void run(device::CudaStream& stream, const WeightedColumnSums& k) {
  launch(stream, k.name, flat_shape(k.x.size(1)), weighted_column_sums, elements<float>(k.x),
         elements<float>(k.weights), k.x.size(0), k.x.size(1), elements<double>(k.sums));
}

void run(device::CudaStream& stream, const PreferenceForward& k) {
  const Pairs pairs{elements<double>(k.sums),
                    elements<float>(k.reference),
                    elements<float>(k.loss),
                    elements<float>(k.margin),
                    elements<float>(k.right),
                    elements<float>(k.slope),
                    k.beta,
                    k.label_smoothing};
  launch(stream, k.name, flat_shape(k.sums.numel()), preference_forward, pairs, k.sums.numel());
}

void run(device::CudaStream& stream, const PreferenceBackward& k) {
  const PairGradients a{elements<float>(k.weights), elements<float>(k.slope),
                        elements<float>(k.dloss), elements<float>(k.dx), k.factor};
  launch(stream, k.name, flat_shape(k.weights.numel()), preference_backward, a, k.weights.numel(),
         k.weights.size(1));
}

}  // namespace mpitron::kernels

#include <algorithm>

#include "kernels/cuda/activation_math.cuh"
#include "kernels/cuda/element.cuh"
#include "kernels/cuda/launch.cuh"
#include "kernels/cuda/product_finish.h"

namespace mpitron::kernels::cuda {
namespace {

constexpr int kThreads = 256;
constexpr Index kMostBlocks = 1 << 16;

struct FinishShape {
  Index m, n, sums_stride, c_stride;
  Activation activation;
  bool accumulate;
};

template <class Sum, class Bias, class C>
__global__ void finish_elements(FinishShape s, const Sum* sums, const Bias* bias, C* c) {
  const Index step = static_cast<Index>(gridDim.x) * blockDim.x;
  for (Index i = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x; i < s.m * s.n;
       i += step) {
    const Index row = i / s.n, column = i % s.n;
    const Sum sum = sums[row * s.sums_stride + column];
    C& to = c[row * s.c_stride + column];
    if (s.accumulate) {
      to = static_cast<C>(static_cast<Sum>(to) + sum);
    } else {
      const Sum shift = bias != nullptr ? static_cast<Sum>(bias[column]) : Sum(0);
      to = static_cast<C>(activate(s.activation, sum + shift));
    }
  }
}

template <class Sum, class Bias, class C>
void run_typed(device::CudaStream& stream, const ProductFinish& k) {
  const FinishShape shape{k.c.size(0),   k.c.size(1),  k.sums.stride(0),
                          k.c.stride(0), k.activation, k.accumulate};
  const Index elements = shape.m * shape.n;
  const auto blocks =
      static_cast<unsigned>(std::min((elements + kThreads - 1) / kThreads, kMostBlocks));
  launch(stream, ProductFinish::name, {blocks, kThreads},
         finish_elements<Sum, typename DeviceType<Bias>::type, typename DeviceType<C>::type>, shape,
         k.sums.as<Sum>(), device_data<Bias>(k.bias), device_data<C>(k.c));
}

}  // namespace

void run(device::CudaStream& stream, const ProductFinish& k) {
  if (k.sums.dtype == DType::f64) {
    return k.c.dtype == DType::f64 ? run_typed<double, double, double>(stream, k)
                                   : run_typed<double, double, float>(stream, k);
  }
  visit_dtype(k.bias ? k.bias.dtype : k.c.dtype, [&]<class Bias>() {
    if (k.c.dtype == DType::f32) {
      run_typed<float, Bias, float>(stream, k);
    } else {
      run_typed<float, Bias, Bias>(stream, k);
    }
  });
}

}  // namespace mpitron::kernels::cuda

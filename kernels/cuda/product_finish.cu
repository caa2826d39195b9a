#include "kernels/cuda/activation_math.cuh"
#include "kernels/cuda/product_finish.h"
#include "kernels/cuda/vector.cuh"

namespace mpitron::kernels::cuda {
namespace {

template <class Sum, class Bias, class C>
struct FinishArguments {
  const Sum* sums;
  const Bias* bias;
  C* c;
  Index elements, n, sums_stride, c_stride;
  Activation activation;
  bool accumulate;
};

template <class Sum, class Bias, class C>
__global__ void finish_elements(FinishArguments<Sum, Bias, C> a) {
  const Worker worker = thread_of_grid();
  for (Index i = worker.index; i < a.elements; i += worker.count) {
    const Index row = i / a.n, column = i % a.n;
    const Sum sum = a.sums[row * a.sums_stride + column];
    C& to = a.c[row * a.c_stride + column];
    if (a.accumulate) {
      to = static_cast<C>(static_cast<Sum>(to) + sum);
    } else {
      const Sum shift = a.bias != nullptr ? static_cast<Sum>(a.bias[column]) : Sum(0);
      to = static_cast<C>(activate(a.activation, sum + shift));
    }
  }
}

template <class Sum, class Bias, class C>
void run_typed(device::CudaStream& stream, const ProductFinish& k) {
  const FinishArguments<Sum, Bias, C> arguments{
      elements<Sum>(k.sums), elements<Bias>(k.bias), elements<C>(k.c), k.c.numel(), k.c.size(1),
      k.sums.stride(0),      k.c.stride(0),          k.activation,     k.accumulate};
  launch(stream, ProductFinish::name, {blocks_for(arguments.elements, kThreads), kThreads},
         finish_elements<Sum, Bias, C>, arguments);
}

}  // namespace

void run(device::CudaStream& stream, const ProductFinish& k) {
  if (k.sums.dtype == DType::f64) {
    return k.c.dtype == DType::f64 ? run_typed<double, double, double>(stream, k)
                                   : run_typed<double, double, float>(stream, k);
  }
  visit_element(k.bias ? k.bias.dtype : k.c.dtype, [&]<class Bias>() {
    if (k.c.dtype == DType::f32) {
      run_typed<float, Bias, float>(stream, k);
    } else {
      run_typed<float, Bias, Bias>(stream, k);
    }
  });
}

}  // namespace mpitron::kernels::cuda

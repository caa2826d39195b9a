// Applies bias and activation to the sums of a product, an element to a thread: it is bound by
// memory, and rare, since cuBLASLt does most of it in its own epilogue.
#include "kernels/cuda/common/vector.cuh"
#include "kernels/cuda/elementwise/activation_math.cuh"
#include "kernels/cuda/linear/product_finish.h"

namespace mpitron::kernels::cuda {
namespace {

template <class Sum, class Bias, class C>
struct FinishArguments {
  Rows<const Sum> sums;
  const Bias* bias;  // null: none
  Rows<C> c;
  Index rows, n;
  Activation activation;
  bool accumulate;
};

/// Adds a bias and applies an activation to one sum, or adds it to c.
template <class Sum, class Bias, class C>
__global__ void finish_rows(const __grid_constant__ FinishArguments<Sum, Bias, C> a) {
  for_rows(a.rows, a.n, false, [&](Index row, Index column, auto) {
    const Sum sum = a.sums[row][column];
    C& to = a.c[row][column];
    if (a.accumulate) {
      to = static_cast<C>(static_cast<Sum>(to) + sum);
    } else {
      const Sum shift = a.bias != nullptr ? static_cast<Sum>(a.bias[column]) : Sum(0);
      to = static_cast<C>(activate(a.activation, sum + shift));
    }
  });
}

template <class Sum, class Bias, class C>
void run_typed(device::CudaStream& stream, const ProductFinish& k) {
  const FinishArguments<Sum, Bias, C> a{
      rows_of<Sum>(k.sums), elements<Bias>(k.bias), rows_of<C>(k.c), k.c.size(0),
      k.c.size(1),          k.activation,           k.accumulate};
  launch(stream, ProductFinish::name, row_shape(a.rows, a.n), finish_rows<Sum, Bias, C>, a);
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

// Numerical contract: that of kernels/elementwise/unit_rows.h. One block passes over a row; threads
// keep a sum of their own, joined in a fixed order.
#include "kernels/cuda/common/element.cuh"
#include "kernels/cuda/common/launch.cuh"
#include "kernels/cuda/common/reduce.cuh"
#include "kernels/cuda/common/vector.cuh"
#include "kernels/elementwise/rows.h"
#include "kernels/elementwise/unit_rows.h"

namespace mpitron::kernels {
namespace {

using namespace cuda;

/// Arguments of both passes; U is the type of dx and dgain.
template <class T, class U = T>
struct UnitRows {
  const T *x, *dy, *gain;
  T* y;
  float* norm;
  U *dx, *dgain;
  Index h;
  float eps;
  bool accumulate;

  __device__ float scale(Index row) const {
    return gain != nullptr ? static_cast<float>(gain[row]) : 1.f;
  }
};

/// y = gain x / max(|x|, eps); a block to a row, whose norm is kept for backward.
template <class T>
__global__ void unit_rows_forward(const __grid_constant__ UnitRows<T> a) {
  __shared__ float partial[kMostWarps];
  const Index row = blockIdx.x, first = row * a.h;
  float squares = 0;
  for (Index i = threadIdx.x; i < a.h; i += blockDim.x) {
    const float value = static_cast<float>(a.x[first + i]);
    squares += value * value;
  }
  const float length = sqrtf(block_sum(squares, partial));
  const float factor = a.scale(row) / fmaxf(length, a.eps);
  for (Index i = threadIdx.x; i < a.h; i += blockDim.x) {
    a.y[first + i] = static_cast<T>(factor * static_cast<float>(a.x[first + i]));
  }
  if (threadIdx.x == 0) {
    a.norm[row] = length;
  }
}

/// Writes dx and dgain of a row: its dot product with dy first, then each element.
template <class T, class U>
__global__ void unit_rows_backward(const __grid_constant__ UnitRows<T, U> a) {
  __shared__ float partial[kMostWarps];
  const Index row = blockIdx.x, first = row * a.h;
  const float length = fmaxf(a.norm[row], a.eps);
  float product = 0;
  for (Index i = threadIdx.x; i < a.h; i += blockDim.x) {
    product += static_cast<float>(a.dy[first + i]) * static_cast<float>(a.x[first + i]);
  }
  const float along = block_sum(product, partial) / length;
  const float factor = a.scale(row) / length;
  const float back = a.norm[row] <= a.eps ? 0 : along / length;
  for (Index i = threadIdx.x; i < a.h; i += blockDim.x) {
    const float turned =
        static_cast<float>(a.dy[first + i]) - back * static_cast<float>(a.x[first + i]);
    const float before = a.accumulate ? static_cast<float>(a.dx[first + i]) : 0.f;
    a.dx[first + i] = static_cast<U>(before + factor * turned);
  }
  if (threadIdx.x == 0 && a.dgain != nullptr) {
    const float before = a.accumulate ? static_cast<float>(a.dgain[row]) : 0.f;
    a.dgain[row] = static_cast<U>(before + along);
  }
}

LaunchShape unit_row_blocks(Index rows) {
  return {dim3(static_cast<unsigned>(rows)), dim3(kThreads)};
}

}  // namespace

void run(device::CudaStream& stream, const UnitRowsForward& k) {
  visit_element(k.x.dtype, [&]<class T>() {
    launch(stream, k.name, unit_row_blocks(row_count(k.x)), unit_rows_forward<T>,
           UnitRows<T>{.x = elements<T>(k.x),
                       .gain = k.gain ? elements<T>(k.gain) : nullptr,
                       .y = elements<T>(k.y),
                       .norm = k.norm.as<float>(),
                       .h = k.x.size(-1),
                       .eps = k.eps});
  });
}

void run(device::CudaStream& stream, const UnitRowsBackward& k) {
  visit_elements(k.x.dtype, k.dx.dtype, [&]<class T, class U>() {
    launch(stream, k.name, unit_row_blocks(row_count(k.x)), unit_rows_backward<T, U>,
           UnitRows<T, U>{.x = elements<T>(k.x),
                          .dy = elements<T>(k.dy),
                          .gain = k.gain ? elements<T>(k.gain) : nullptr,
                          .norm = const_cast<float*>(k.norm.as<float>()),
                          .dx = elements<U>(k.dx),
                          .dgain = k.dgain ? elements<U>(k.dgain) : nullptr,
                          .h = k.x.size(-1),
                          .eps = k.eps,
                          .accumulate = k.accumulate});
  });
}

}  // namespace mpitron::kernels

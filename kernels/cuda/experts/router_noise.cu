// Numerical contract: that of router_noise.h; the numbers are the host's bit for bit.
#include "kernels/cuda/common/vector.cuh"
#include "kernels/experts/router_noise.h"

namespace mpitron::kernels {
namespace {

using namespace cuda;

/// Arguments of jitter; `noise` is made that of the step where a graph repeats it.
template <class T>
struct JitterRows {
  Rows<const T> x;
  Rows<T> y;
  Index t, h;
  bool packed;
  float eps;
  TokenNoise noise;
};

template <class T>
__global__ void jitter_rows(const __grid_constant__ JitterRows<T> a) {
  const TokenNoise noise = of_step(a.noise);
  for_rows(a.t, a.h, a.packed, [&](Index row, Index i, auto width) {
    auto values = load(a.x[row] + i, width);
    for (int j = 0; j < width; ++j) {
      values[j] *= 1 - a.eps + 2 * a.eps * token_uniform(noise, row, i + j);
    }
    store(a.y[row] + i, values);
  });
}

template <class T>
__global__ void uniform_rows(const __grid_constant__ Rows<T> logits, Index rows, Index n,
                             const __grid_constant__ TokenNoise told) {
  const TokenNoise noise = of_step(told);
  for_rows(rows, n, false, [&](Index row, Index i, auto) {
    logits[row][i] = static_cast<T>(token_uniform(noise, row, i));
  });
}

}  // namespace

void run(device::CudaStream& stream, const Jitter& k) {
  MPITRON_CHECK(k.x.dtype == k.y.dtype, name_of(k.x.dtype), name_of(k.y.dtype));
  const Index rows = k.x.size(0), h = k.x.size(1);
  visit_element(k.x.dtype, [&]<class T>() {
    const Rows<const T> x = rows_of<T>(k.x);
    const Rows<T> y = rows_of<T>(k.y);
    launch(stream, k.name, row_shape(rows, h), jitter_rows<T>,
           JitterRows<T>{x, y, rows, h, all_packed(x, y), k.eps, k.noise});
  });
}

void run(device::CudaStream& stream, const RandomLogits& k) {
  const Index rows = k.logits.size(0), n = k.logits.size(1);
  const auto fill = [&]<class T>() {
    launch(stream, k.name, row_shape(rows, n), uniform_rows<T>, rows_of<T>(k.logits), rows, n,
           k.noise);
  };
  if (k.logits.dtype == DType::f64) {
    fill.template operator()<double>();
  } else {
    visit_element(k.logits.dtype, fill);
  }
}

}  // namespace mpitron::kernels

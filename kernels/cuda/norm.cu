// Numerical contract: that of kernels/norm.h; one block sums a row in fp32, in a fixed order.
#include "kernels/cuda/element.cuh"
#include "kernels/cuda/launch.cuh"
#include "kernels/norm.h"

namespace mpitron::kernels {
namespace {

constexpr int kThreads = 256;

/// Where row r of a [t, h] or [t0, t1, h] view begins, in elements.
struct Rows {
  Index inner, outer_stride, inner_stride;

  explicit Rows(const device::ConstTensorView& view)
      : inner(view.shape.rank() == 3 ? view.size(1) : 1),
        outer_stride(view.stride(0)),
        inner_stride(view.shape.rank() == 3 ? view.stride(1) : 0) {}
  __device__ Index offset(Index row) const {
    return row / inner * outer_stride + row % inner * inner_stride;
  }
};

template <class X, class Gamma, class Y>
struct RmsNormArguments {
  const X* x;
  const Gamma* gamma;  // null: all ones
  Y* y;
  float* rstd;
  Rows x_rows, y_rows;
  Index h;
  float eps, gamma_offset;
};

template <class X, class Gamma, class Y>
__global__ void rms_norm_rows(RmsNormArguments<X, Gamma, Y> a) {
  __shared__ float partial[32];
  const Index row = blockIdx.x;
  const X* x = a.x + a.x_rows.offset(row);
  Y* y = a.y + a.y_rows.offset(row);
  float sum = 0;
  for (Index i = threadIdx.x; i < a.h; i += blockDim.x) {
    const float value = static_cast<float>(x[i]);
    sum += value * value;
  }
  const float mean = cuda::block_sum(sum, partial) / static_cast<float>(a.h);
  const float rstd = 1.0f / sqrtf(mean + a.eps);
  if (threadIdx.x == 0) {
    a.rstd[row] = rstd;
  }
  for (Index i = threadIdx.x; i < a.h; i += blockDim.x) {
    const float weight =
        a.gamma != nullptr ? static_cast<float>(a.gamma[i]) + a.gamma_offset : 1.0f;
    y[i] = static_cast<Y>(static_cast<float>(x[i]) * rstd * weight);
  }
}

template <class X, class Gamma, class Y>
void run_typed(device::CudaStream& stream, const RmsNormForward& k) {
  using namespace cuda;
  const Index h = k.x.size(k.x.shape.rank() - 1);
  const Index rows = k.x.numel() / h;
  if (rows > 0) {
    RmsNormArguments<typename DeviceType<X>::type, typename DeviceType<Gamma>::type,
                     typename DeviceType<Y>::type>
        arguments{device_data<X>(k.x),
                  device_data<Gamma>(k.gamma),
                  device_data<Y>(k.y),
                  k.rstd.as<float>(),
                  Rows(k.x),
                  Rows(k.y),
                  h,
                  k.eps,
                  k.gamma_offset};
    cuda::launch(stream, RmsNormForward::name, {static_cast<unsigned>(rows), kThreads},
                 rms_norm_rows<typename DeviceType<X>::type, typename DeviceType<Gamma>::type,
                               typename DeviceType<Y>::type>,
                 arguments);
  }
}

}  // namespace

void run(device::CudaStream& stream, const RmsNormForward& k) {
  visit_dtype(k.x.dtype, [&]<class X>() {
    visit_dtype(k.y.dtype, [&]<class Y>() {
      if (k.gamma && k.gamma.dtype == k.y.dtype) {
        run_typed<X, Y, Y>(stream, k);
      } else {
        run_typed<X, float, Y>(stream, k);
      }
    });
  });
}

}  // namespace mpitron::kernels

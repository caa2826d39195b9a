// Numerical contract: that of kernels/linear/fp8_product_steps.h.
#include "kernels/cuda/linear/fp8_blocks.cuh"
#include "kernels/linear/fp8_product_steps.h"

namespace mpitron::kernels {
namespace {

using namespace cuda;

/// Decodes numbers of 8 bits to bf16, by their blocks' scales where there are several.
__global__ void decode(const __grid_constant__ Rows<const std::uint8_t> x,
                       const __grid_constant__ BlockScales scales,
                       const __grid_constant__ Rows<__nv_bfloat16> y, Index rows, Index n,
                       bool packed) {
  for_rows(rows, n, packed, [&](Index row, Index i, auto width) {
    const float factor = scales.whole() ? 1.0f : 1 / scales(row, i);
    const auto bits = load_raw(x[row] + i, width);
    Floats<width> numbers;
    for (int j = 0; j < width; ++j) {
      numbers[j] = from_fp8(bits.v[j], scales.scaling.format) * factor;
    }
    store(y[row] + i, numbers);
  });
}

template <class T>
struct FinishArguments {
  Rows<const float> sums;
  const float *a_amax, *b_amax;
  const T* bias;  // null: none
  Rows<T> c;
  Fp8Scaling a_scaling, b_scaling;
  bool accumulate;
};

/// c = sums / (scale of a x scale of b) + bias, or c +=, rounded once.
template <class T>
__global__ void finish(const __grid_constant__ FinishArguments<T> a, Index rows, Index n,
                       bool packed) {
  const float factor = fp8_product_factor(*a.a_amax, a.a_scaling, *a.b_amax, a.b_scaling);
  for_rows(rows, n, packed, [&](Index row, Index i, auto width) {
    Floats<width> more{};
    if (a.bias != nullptr) {
      more = load(a.bias + i, width);
    } else if (a.accumulate) {
      more = load(a.c[row] + i, width);
    }
    store(a.c[row] + i, each([&](float sum, float other) { return sum * factor + other; },
                             load(a.sums[row] + i, width), more));
  });
}

}  // namespace

void run(device::CudaStream& stream, const Fp8Decode& k) {
  const Index rows = k.y.size(0), n = k.y.size(1);
  const BlockScales scales(k.x.amax, k.x.blocks, k.x.scaling);
  const auto x = rows_of<std::uint8_t>(k.x.values);
  const auto y = rows_of<__nv_bfloat16>(k.y);
  launch(stream, Fp8Decode::name, row_shape(rows, n), decode, x, scales, y, rows, n,
         all_packed(x, y) && scales.fit_packs());
}

void run(device::CudaStream& stream, const Fp8Finish& k) {
  const Index rows = k.c.size(0), n = k.c.size(1);
  visit_element(k.c.dtype, [&]<class T>() {
    const FinishArguments<T> a{rows_of<float>(k.sums),
                               elements<float>(k.a_amax),
                               elements<float>(k.b_amax),
                               elements<T>(k.bias),
                               rows_of<T>(k.c),
                               k.a_scaling,
                               k.b_scaling,
                               k.accumulate};
    launch(stream, Fp8Finish::name, row_shape(rows, n), finish<T>, a, rows, n,
           all_packed(a.sums, a.bias, a.c));
  });
}

}  // namespace mpitron::kernels

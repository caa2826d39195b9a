// Numerical contract: scores are hidden by a number that bf16 and fp16 hold exactly; a row whose
// lse is below half of it has seen no key, which takes visible scores to lie above that half:
// -2^99 in bf16, -30720 in fp16.
#include <limits>

#include "kernels/cuda/attention/attention_problem.cuh"
#include "kernels/cuda/attention/fused_attention_mask.h"
#include "kernels/cuda/common/launch.cuh"
#include "kernels/cuda/common/vector.cuh"

namespace mpitron::kernels::cuda::attention {
namespace {

constexpr float kMinusInfinity = -std::numeric_limits<float>::infinity();

float hidden_score(DType type) {
  return type == DType::f16 ? -0x1.ep15f : -0x1p100f;
}

template <class F>
void visit_half(DType type, F&& f) {
  MPITRON_CHECK(type == DType::bf16 || type == DType::f16, name_of(type));
  type == DType::bf16 ? f.template operator()<__nv_bfloat16>() : f.template operator()<__half>();
}

template <class T>
struct MaskBias {
  const std::uint8_t* mask;
  Index stride_sample, stride_row;
  T* bias;
  Index samples, rows, keys;
  float hidden;
};

template <class T>
__global__ void mask_bias(MaskBias<T> a, bool packed) {
  for_rows(a.samples * a.rows, a.keys, packed, [&](Index row, Index i, auto width) {
    const std::uint8_t* const mask =
        a.mask + row / a.rows * a.stride_sample + row % a.rows * a.stride_row;
    T* const bias = a.bias + row * mask_bias_width(a.keys);
    store(bias + i,
          each([&](float hides) { return hides != 0 ? a.hidden : 0; }, load(mask + i, width)));
  });
}

template <class T>
struct BlindRows {
  T* o;
  HeadStrides strides;
  float* lse;  // [b, n, s]
  Index samples, heads, s, d;
  float blind;  // lse of rows that see nothing is below

  __device__ bool is_blind(Index row) const { return lse[row] < blind; }
};

template <class T>
__global__ void clear_outputs(BlindRows<T> a, bool packed) {
  for_rows(a.samples * a.heads * a.s, a.d, packed, [&](Index row, Index i, auto width) {
    if (a.is_blind(row)) {
      const Index head = row / a.s % a.heads, sample = row / a.s / a.heads;
      T* const o = a.o + a.strides.offset(sample, head) + row % a.s * a.strides.s;
      store(o + i, Floats<width>{});
    }
  });
}

template <class T>
__global__ void clear_logarithms(BlindRows<T> a) {
  for_packs(a.samples * a.heads * a.s, false, thread_of_grid(),
            [&](Index row, auto) { a.lse[row] = a.is_blind(row) ? kMinusInfinity : a.lse[row]; });
}

__global__ void finite_logarithms(const float* lse, float* finite, Index rows) {
  for_packs(rows, false, thread_of_grid(),
            [&](Index row, auto) { finite[row] = lse[row] == kMinusInfinity ? 0 : lse[row]; });
}

}  // namespace

/// Writes a mask as what is added to scores: 0, or for hidden keys a number so far below all scores
/// that nothing is left of them.
void write_mask_bias(device::CudaStream& stream, const In& mask, const device::TensorView& bias) {
  visit_half(bias.dtype, [&]<class T>() {
    const MaskBias<T> a{mask.as<std::uint8_t>(),
                        mask.stride(0),
                        mask.stride(1),
                        elements<T>(bias),
                        bias.size(0),
                        bias.size(1),
                        bias.size(2),
                        hidden_score(bias.dtype)};
    const bool packed = packs_fit(a.mask) && (a.stride_sample | a.stride_row) % kPack == 0;
    launch(stream, "attention: mask", row_shape(a.samples * a.rows, a.keys), mask_bias<T>, a,
           packed);
  });
}

/// Zeroes outputs of rows that see no key, and makes their lse minus infinity, as our own kernels
/// do.
void clear_blind_rows(device::CudaStream& stream, const AttentionForward& kernel) {
  visit_half(kernel.o.dtype, [&]<class T>() {
    const BlindRows<T> a{elements<T>(kernel.o),       HeadStrides(kernel.o),
                         elements<float>(kernel.lse), kernel.lse.size(0),
                         kernel.lse.size(1),          kernel.lse.size(2),
                         kernel.o.size(-1),           hidden_score(kernel.o.dtype) / 2};
    const Index rows = kernel.lse.numel();
    launch(stream, "attention: blind rows", row_shape(rows, a.d), clear_outputs<T>, a,
           a.strides.aligned(a.o));
    launch(stream, "attention: blind rows", flat_shape(rows), clear_logarithms<T>, a);
  });
}

void write_finite_lse(device::CudaStream& stream, const In& lse, void* finite) {
  launch(stream, "attention: finite lse", flat_shape(lse.numel()), finite_logarithms,
         elements<float>(lse), static_cast<float*>(finite), lse.numel());
}

}  // namespace mpitron::kernels::cuda::attention

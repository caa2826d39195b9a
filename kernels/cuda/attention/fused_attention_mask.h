#pragma once
#include "kernels/attention/attention.h"

// Masks for cuDNN, which adds a bias to the scores: hidden keys get a number so low that their
// probability is 0 beside visible ones. It is finite, so that rows without a visible key are not
// NaN, but they are not what kernels/attention/attention.h promises: they are dealt with here.
namespace mpitron::kernels::cuda::attention {

/// Elements from one row of a bias to the next, each aligned to 16 bytes.
constexpr Index mask_bias_width(Index keys) {
  return (keys + 7) / 8 * 8;
}

/// bias [samples, rows, keys] of rows mask_bias_width apart, bf16 or fp16, from a mask [samples,
/// rows, keys or more].
void write_mask_bias(device::CudaStream& stream, const In& mask, const device::TensorView& bias);

/// After forward with such a bias: o = 0 and lse = -inf where every visible key is hidden.
void clear_blind_rows(device::CudaStream& stream, const AttentionForward& kernel);

/// For backward with such a bias: lse [b, n, s] with 0 for -inf, which leaves no probability.
void write_finite_lse(device::CudaStream& stream, const In& lse, void* finite);

}  // namespace mpitron::kernels::cuda::attention

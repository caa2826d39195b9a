#pragma once
#include <compare>
#include <optional>

#include "kernels/attention/attention.h"

namespace mpitron::kernels::cuda::attention {

/// Where heads lie: strides between samples, heads and positions.
struct FusedHeads {
  Index sample, head, position;
  auto operator<=>(const FusedHeads&) const = default;
};

/// Of a backward pass.
struct FusedGradients {
  FusedHeads d_o, dq, dk, dv;
  auto operator<=>(const FusedGradients&) const = default;
};

/// The attention as cuDNN is told of it: all that a plan depends on.
struct FusedProblem : FusedGradients {
  int device;
  DType type;
  bool causal;
  Index window;
  float scale;
  Index s, s_kv, b, n, g, d, d_v;
  FusedHeads q, k, v, o, lse;
  Index mask_samples, mask_rows;  // 0: none
  auto operator<=>(const FusedProblem&) const = default;
};

/// Absent where the tensors lie in no way that cuDNN knows. Its tensors are [b, h, s, d]; where the
/// queries of one group lie side by side, but groups do not (a fused qkv), every group is a sample
/// of its own with one key head.
std::optional<FusedProblem> problem_of(const device::CudaStream& stream,
                                       const AttentionForward& kernel);
std::optional<FusedProblem> problem_of(const device::CudaStream& stream,
                                       const AttentionBackward& kernel);

/// What cuDNN is not asked for; null where it is.
const char* beyond_pattern(const AttentionForward& kernel);
const char* beyond_pattern(const AttentionBackward& kernel);

}  // namespace mpitron::kernels::cuda::attention

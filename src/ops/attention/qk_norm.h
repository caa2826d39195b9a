#pragma once
#include "ops/attention/qkv_layout.h"
#include "ops/elementwise/norm.h"

namespace mpitron::ops {

/// Norms every query head and every key head of a fused qkv over the head dimension; values pass
/// unchanged. The weights are shared by all heads (`--qk-layernorm`), or absent (`--qk-l2-norm`).
///
/// Numerical contract: as ops/elementwise/norm.h.
Var qk_norm(Context& context, const Var& qkv, const QkvLayout& layout, const NormParameters& query,
            const NormParameters& key);

}  // namespace mpitron::ops

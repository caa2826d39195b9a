#pragma once
#include <optional>

#include "autograd/context.h"
#include "ops/attention/rotary.h"

namespace mpitron::ops {

/// Sizes of the heads of latent attention.
struct LatentHeads {
  Index heads = 1;   // n, local
  Index plain = 1;   // dq: components of queries and keys without positions
  Index rotary = 0;  // dr: components with rotary positions; all keys share theirs
  Index value = 1;   // dv

  QkvLayout layout() const { return {heads, heads, plain + rotary, value}; }
};

/// Outputs of the up projections of latent attention.
struct LatentProjections {
  Var q;       // [s, b, n (dq + dr)]
  Var kv;      // [s, b, n (dq + dv)]
  Var k_rope;  // [s, b, dr]
};

/// The fused qkv in `heads.layout()` with its rotary components rotated; without tables nothing is.
/// The pairs of a rotation are neighbours, whatever the tables say.
///
/// Numerical contract: kernels/attention/latent_qkv.h.
Var latent_qkv(Context& context, const LatentProjections& x, const LatentHeads& heads,
               const std::optional<RotaryTables>& tables);

}  // namespace mpitron::ops

#pragma once
#include "ops/state_space/recurrence.h"

namespace mpitron::ops {

/// Parameters that a layer's scan has beside its inputs; heads and groups are those of this tensor
/// rank.
struct ScanSettings {
  Parameter *a_log = nullptr, *d = nullptr, *dt_bias = nullptr;  // [heads]
  Index groups = 1;
  Index state_dim = 128;
  Index chunk = 128;

  std::array<Parameter*, 3> parameters() const { return {a_log, d, dt_bias}; }
  Index heads() const { return a_log->value.numel(); }
};

// The scan of Mamba-2: channels are the columns of x, of B and of C, [s, b, heads p + 2 groups n],
// steps are dt before softplus, [s, b, heads]; y is [s, b, heads p].
//
// Numerical contract: kernels/state_space/selective_scan.h.

Recurred recur(Context& context, const ScanSettings& settings, const RecurrenceInputs& inputs);
/// y of the rows [t, 1, ...] of the context's cached pass, each piece going on from what layer
/// `number` (from 1) keeps of it (kernels/state_space/cached_recurrence.h).
void recur_cached(Context& context, const ScanSettings& settings, const RecurrenceInputs& inputs,
                  Index number, const tensor::Tensor& y);
void recur_backward(Context& context, const ScanSettings& settings, const RecurrenceInputs& inputs,
                    const RecurrenceGradients& gradients);

}  // namespace mpitron::ops

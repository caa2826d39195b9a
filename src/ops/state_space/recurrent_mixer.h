#pragma once
#include <variant>

#include "ops/state_space/delta_rule.h"
#include "ops/state_space/gated_norm.h"
#include "ops/state_space/head_exchange.h"
#include "ops/state_space/selective_scan.h"

// The part that Mamba's mixer and delta nets have in common; the recurrences differ by a variant.

namespace mpitron::ops {

/// Parts of a mixer with a state between its two projections. Of what the first one makes, [s, b,
/// w], some columns (channels) go through a causal convolution with SiLU into a recurrence that
/// others (steps) control, and the rest (gate) gates the norm of what comes out.
struct RecurrentMixer {
  using Columns = tensor::Shard::Range;
  Columns gate, channels, steps;
  Parameter *conv_weight = nullptr, *conv_bias = nullptr;  // [c, 1, width], [c] or null
  std::variant<ScanSettings, DeltaRuleSettings> recurrence = {};
  GatedNormSettings norm = {};
  HeadExchange exchange = {};  // with the ranks that share the sequence
  Index number = 0;            // of the layer, from 1, for what a cached pass keeps
};

/// [s, b, heads v]. The recurrence and the convolution begin anew where documents do: starts [s, b]
/// of the whole sequence, i32, says where that of each position begins; absent: there is one.
///
/// Numerical contract: those of the four parts; the norm is of all heads of a position, so it does
/// not depend on how they are shared out. What is projected, convolved and normed is kept.
///
/// Of the rows of a cached pass, [t, 1, w], each piece goes on from the state that the layer keeps
/// of it: nothing is recorded. Ranks that share sequences have even pieces of the rows, and all of
/// them carry the states of all heads.
Var recurrent_mixer(Context& context, const Var& projected, const RecurrentMixer& mixer,
                    const tensor::Tensor& starts);

}  // namespace mpitron::ops

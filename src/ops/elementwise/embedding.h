#pragma once
#include "autograd/context.h"
#include "autograd/parameter.h"

namespace mpitron::ops {

using autograd::Context;
using autograd::Parameter;
using autograd::Var;

/// Token and position ids, [s, b], int64.
struct EmbeddingInputs {
  tensor::Tensor ids;
  tensor::Tensor position_ids;  // only with learned positions
};

/// words[id] (+ positions[position id]) as [s, b, h]; `positions` may be null. `words` may hold a
/// range of the vocabulary's rows (its shard): other ids give zeros.
///
/// Numerical contract: embedding.h; a row's gradients are added in the order of the tokens.
Var embedding(Context& context, const EmbeddingInputs& inputs, Parameter& words,
              Parameter* positions);

/// Rows `ids` [t] (int64) of a table [v, h], copied: [t, h].
tensor::Tensor take_rows(Context& context, const tensor::Tensor& table, const tensor::Tensor& ids);

}  // namespace mpitron::ops

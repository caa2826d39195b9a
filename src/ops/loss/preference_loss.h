#pragma once
#include "autograd/context.h"
#include "comm/groups/group.h"

namespace mpitron::ops {

using autograd::Context;
using autograd::Var;

/// Pairs of texts, of which one is preferred: each fills a column with both.
struct PreferencePairs {
  tensor::Tensor weights;    // [s, b], fp32: of token losses, + in the preferred, - in the other
  tensor::Tensor reference;  // [b], fp32: what the weighted log-probabilities of the model that
                             // stays add up to, over the whole sequence
  double beta = 0.1;
  double label_smoothing = 0;  // share of pairs whose order is wrong
};

/// Losses and measures of pairs, [1, b], fp32.
struct PreferenceLosses {
  Var loss;
  tensor::Tensor margin;  // beta times the gain over the reference: above 0 where it is right
  tensor::Tensor right;   // 1 or 0
};

/// Direct preference optimisation from the losses of tokens, [s, b]; `context_group` shares the
/// sequences, and each of its ranks gets the same results. The gradient counts that they all take
/// part in the mean.
///
/// Numerical contract: kernels/elementwise/preference.h; sums over the group in rank order, fp64.
PreferenceLosses preference_loss(Context& context, const Var& losses, const PreferencePairs& pairs,
                                 comm::Group& context_group);

}  // namespace mpitron::ops

#pragma once
#include "autograd/context.h"
#include "comm/groups/group.h"

namespace mpitron::ops {

/// softmax((x - centre) / temperature) over the last dimension, fp32, without a gradient. x
/// [..., v], centre [v] fp32.
///
/// Numerical contract: kernels/elementwise/soft_targets.h.
tensor::Tensor sharp_softmax(autograd::Context& context, const tensor::Tensor& x,
                             const tensor::Tensor& centre, double temperature);

/// centre [v], fp32, becomes momentum centre + (1 - momentum) mean of the rows [t, v] of all
/// members of the group, which have as many each.
///
/// Numerical contract: kernels::BiasGradient, the group's sum, kernels::MovingAverage; fp32.
void move_centre(autograd::Context& context, const tensor::Tensor& centre,
                 const tensor::Tensor& rows, comm::Group& group, double momentum);

/// Targets of rows: probabilities [n, v], fp32, and of each row the one or two rows of them whose
/// mean it is to be like (int64 [t, 2], -1: none).
struct SoftTargets {
  tensor::Tensor probabilities, sources;
};

/// The cross entropy of softmax(logits / temperature) with its target, [t] fp32. Backward
/// overwrites the logits [t, v] with their gradient.
///
/// Numerical contract: kernels/elementwise/soft_targets.h.
autograd::Var soft_cross_entropy(autograd::Context& context, const autograd::Var& logits,
                                 const SoftTargets& targets, double temperature);

}  // namespace mpitron::ops

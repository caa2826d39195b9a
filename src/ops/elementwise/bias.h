#pragma once
#include "autograd/gradient.h"

namespace mpitron::ops {

/// An absent bias is an absent argument.
device::ConstTensorView value_of(const autograd::Parameter* bias);

/// Adds the sum of dy[..., n] over its rows to the bias's gradient; nothing without a bias.
void accumulate_bias(autograd::Context& context, autograd::Parameter* bias,
                     const tensor::Tensor& dy);

}  // namespace mpitron::ops

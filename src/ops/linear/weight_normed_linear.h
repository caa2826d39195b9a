#pragma once
#include "autograd/context.h"
#include "autograd/parameter.h"

namespace mpitron::ops {

/// y[..., out] = x[..., in] W^T, where row o of W is length[o] direction[o] / |direction[o]|
/// (weight normalisation, Salimans and Kingma 2016). direction [out, in], length [out, 1].
///
/// Numerical contract: W is made in the type of the parameters, by kernels/elementwise/unit_rows.h;
/// products as in ops/linear/linear.h, the gradient of W is rounded to that type once.
autograd::Var weight_normed_linear(autograd::Context& context, const autograd::Var& x,
                                   autograd::Parameter& direction, autograd::Parameter& length);

}  // namespace mpitron::ops

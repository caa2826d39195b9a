#pragma once
#include "autograd/context.h"
#include "autograd/deferred_gradients.h"

namespace mpitron::autograd {

/// Adds to a slot: the first contribution is kept as it is, later ones are added in place where the
/// memory is nobody else's. A slot that wants no gradient takes none.
void accumulate(Context& context, const Slot& slot, Tensor gradient);

/// What a slot holds already, to be fused into the kernel that computes the next contribution
/// (`dx_add`); the slot is empty afterwards. Empty where there is nothing yet.
Tensor take_gradient(const Slot& slot);

/// The gradient of a parameter goes to `main_grad`, straight from the kernel that computes it
/// wherever the types allow it. `write(destination, accumulate)` must store into the destination,
/// `=` or `+=`.
///
/// Where the reference rounds each microbatch's gradient to half precision before adding it (fp16),
/// so do we, through a buffer of that type.
template <class Write>
void accumulate_parameter(Context& context, Parameter& parameter, Write&& write);

/// Whether additions to this gradient are left for later (autograd/deferred_gradients.h).
inline bool defers(const Context& context, const Parameter& parameter) {
  return context.deferred != nullptr && context.deferred->takes(parameter);
}

namespace detail {
bool writes_through_buffer(const Parameter& parameter);
void add_buffered(Context& context, Parameter& parameter, const Tensor& rounded);
}  // namespace detail

template <class Write>
void accumulate_parameter(Context& context, Parameter& parameter, Write&& write) {
  MPITRON_CHECK(!parameter.gradient_sent, parameter.name);
  if (detail::writes_through_buffer(parameter)) {
    const Tensor rounded = context.empty(parameter.value.shape(), parameter.value.dtype());
    write(rounded.view(), false);
    detail::add_buffered(context, parameter, rounded);
  } else {
    write(parameter.main_grad.view(), parameter.gradient_written);
    parameter.gradient_written = true;
  }
}

}  // namespace mpitron::autograd

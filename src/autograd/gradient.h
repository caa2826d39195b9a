#pragma once
#include "autograd/context.h"
#include "autograd/deferred_gradients.h"

namespace mpitron::autograd {

/// Adds to a slot: the first contribution is kept as it is, later ones are added in place where the
/// memory is nobody else's. A slot that wants no gradient takes none.
void accumulate(Context& context, const Slot& slot, Tensor gradient);

/// Takes what a slot holds already, to be fused into the kernel that computes the next contribution
/// (`dx_add`); the slot is empty afterwards. Empty where there is nothing yet.
Tensor take_gradient(const Slot& slot);

/// The gradient of a parameter goes to `main_grad`, straight from the kernel that computes it
/// wherever the types allow it. `write(destination, accumulate)` must store into the destination,
/// `=` or `+=`.
///
/// Where the reference rounds each microbatch's gradient to half precision before adding it (fp16),
/// so do we, through a buffer of that type. A frozen parameter takes nothing.
template <class Write>
void accumulate_parameter(Context& context, Parameter& parameter, Write&& write);

/// The same in two steps, for kernels that write several gradients: where this one goes. Between
/// the two, the kernel stores it, `=` or `+=` as `accumulate` says. What a kernel cannot leave out
/// of a frozen parameter goes to a buffer that nobody reads.
struct GradientWrite {
  device::TensorView destination;
  bool accumulate = false;
  Tensor rounded = {};  // the buffer, where there is one
};
GradientWrite open_sink(Context& context, Parameter& parameter);
/// The same of rows of a parameter that every rank holds and uses other rows of: the gradient of
/// the others is zero here. The kernel must add (`accumulate` is true) unless the rows are all.
GradientWrite open_sink_of_rows(Context& context, Parameter& parameter,
                                const tensor::Shard::Range& rows);
void close_sink(Context& context, Parameter& parameter, const GradientWrite& write);

/// Whether additions to this gradient are left for later (autograd/deferred_gradients.h).
inline bool defers(const Context& context, const Parameter& parameter) {
  return !parameter.role.frozen && context.recorder.deferred != nullptr &&
         context.recorder.deferred->takes(parameter);
}

namespace detail {
bool writes_through_buffer(const Parameter& parameter);
void add_buffered(Context& context, Parameter& parameter, const Tensor& rounded);
}  // namespace detail

template <class Write>
void accumulate_parameter(Context& context, Parameter& parameter, Write&& write) {
  if (parameter.role.frozen) {
    return;
  }
  const GradientWrite opened = open_sink(context, parameter);
  write(opened.destination, opened.accumulate);
  close_sink(context, parameter, opened);
}

}  // namespace mpitron::autograd

#pragma once
#include <array>

#include "autograd/context.h"
#include "autograd/gradient.h"
#include "autograd/parameter.h"

namespace mpitron::ops {

using autograd::Context;
using autograd::Parameter;
using autograd::Var;

/// Share of a parameter's equal parts that this rank uses: context parallel ranks share out the
/// heads of a mixer whose parameters all of them hold.
struct HeadShare {
  Index rank = 0, size = 1;

  /// Begin and end of this rank's part of a dimension.
  Index begin(Index extent) const { return extent / size * rank; }
  Index end(Index extent) const { return extent / size * (rank + 1); }
};

/// Tensors that a recurrence over whole sequences reads.
struct RecurrenceInputs {
  tensor::Tensor channels;  // [s, b, ...]
  tensor::Tensor steps;     // [s, b, ...]
  tensor::Tensor starts;    // [s, b], i32: where the document of each position begins; optional
  HeadShare share;
};

/// Results of a recurrence, with what it keeps for its backward pass.
struct Recurred {
  tensor::Tensor y;       // [s, b, ...]
  tensor::Tensor states;  // before each chunk
};

/// A backward pass: gradients of the inputs are `=`.
struct RecurrenceGradients {
  tensor::Tensor states, dy;
  tensor::Tensor channels, steps;  // [s, b, ...], any rows
};

/// This rank's part of a parameter [heads], and where its gradient goes.
inline device::ConstTensorView own_part(const Parameter& parameter, const HeadShare& share) {
  const Index heads = parameter.value.shape()[0];
  return parameter.value.slice(0, share.begin(heads), share.end(heads)).view();
}
inline autograd::GradientWrite open_own_part(Context& context, Parameter& parameter,
                                             const HeadShare& share) {
  const Index heads = parameter.value.shape()[0];
  return autograd::open_sink_of_rows(context, parameter, {share.begin(heads), share.end(heads)});
}

}  // namespace mpitron::ops

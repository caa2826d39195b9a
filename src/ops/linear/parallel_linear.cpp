// Linear layers with cut weights. Column parallel: gather the sequence, multiply, and in the
// backward pass scatter the sum; row parallel the reverse. Gathers and sums overlap with products
// where options ask for it, in pieces whose order is fixed.
#include "ops/linear/parallel_linear.h"

#include "ops/elementwise/bias_dropout_add.h"
#include "ops/linear/linear_products.h"
#include "ops/parallel/collectives.h"
#include "ops/parallel/rows.h"
#include "ops/parallel/tensor_parallel_regions.h"

namespace mpitron::ops {
namespace {

using autograd::Slot;

/// A collective under way, with the tensor that it fills and the one that others read.
struct Arriving {
  Tensor tensor;
  comm::Work work = {};
  Tensor source = {};

  const Tensor& wait() {
    work.wait();
    return tensor;
  }
};

struct ColumnParallelBackward {
  autograd::SavedValue x;  // [s, b, in], or this rank's piece of s
  Slot x_slot;
  Parameter* weight;
  Parameter* bias;
  TensorParallel shared;

  void operator()(Context& context, Tensor gradient) const {
    const Tensor dy = fold_rows(gradient);
    const bool reads_x = !weight->role.frozen && !defers(context, *weight);
    Arriving x_whole = reads_x ? start_gather(context) : Arriving{};
    if (!x_slot) {
      add_to_weights(context, dy, x_whole);
      return;
    }
    const Tensor part = linear_input_gradient(context, dy, *weight);
    Arriving dx = start_sum(context, part);
    add_to_weights(context, dy, x_whole);
    autograd::accumulate(context, x_slot, dx.wait());
  }

  /// Adds to the weights' gradients. Additions that are put off gather x when they are made: until
  /// then only this rank's piece is kept.
  void add_to_weights(Context& context, const Tensor& dy, Arriving& x_whole) const {
    if (weight->role.frozen) {
      accumulate_bias(context, bias, dy);
    } else if (defers(context, *weight)) {
      context.recorder.deferred->add(*weight, [self = *this, dy](Context& later) {
        accumulate_weight(later, *self.weight, dy, fold_rows(self.start_gather(later).wait()));
      });
      accumulate_bias(context, bias, dy);
    } else {
      accumulate_linear(context, *weight, bias, dy, fold_rows(x_whole.wait()));
    }
  }

  Arriving start_gather(Context& context) const {
    if (!shared.cuts_sequence()) {
      return {x(context)};
    }
    const Tensor piece = x(context);
    const Tensor whole = context.empty(joined_shape(x.shape(), 0, shared.size()), piece.dtype());
    return {whole, shared.group->all_gather(piece, whole.view()), piece};
  }
  Arriving start_sum(Context& context, const Tensor& part) const {
    if (!shared.cuts_sequence()) {
      const Tensor dx = part.reshape(x.shape());
      return {dx, shared.group->all_reduce(dx.view())};
    }
    const Tensor dx = context.empty(x.shape(), part.dtype());
    return {dx, shared.group->reduce_scatter(part, dx.view()), part};
  }
};

Tensor column_parallel_output(Context& context, const Tensor& x, Parameter& weight, Parameter* bias,
                              const TensorParallel& shared) {
  if (shared.overlaps()) {
    context.use(weight);
    if (bias != nullptr) {
      context.use(*bias);
    }
    const auto product = [&](const Tensor& rows, const Tensor& y) {
      multiply(context, rows, weight, bias, y);
    };
    return gather_and_multiply(context, x, weight.local_shape()[0], shared, product).y;
  }
  const Tensor whole = shared.cuts_sequence() ? join_first(context, x, *shared.group) : x;
  const Tensor y = linear_output(context, fold_rows(whole), weight, bias);
  Shape shape = whole.shape();
  shape[-1] = y.shape()[1];
  return y.reshape(shape);
}

/// Backward pass of a row parallel layer whose sum over the ranks overlaps with its product.
struct RowParallelBackward {
  Tensor x;  // [s, b, in_local]
  Slot x_slot;
  Parameter* weight;
  TensorParallel shared;

  void operator()(Context& context, Tensor gradient) const {
    const auto product = [&](const Tensor& dy, const Tensor& dx) {
      multiply_back(context, dy, *weight, dx);
    };
    const GatheredProduct back =
        gather_and_multiply(context, gradient, x.shape()[-1], shared, product);
    accumulate_linear(context, *weight, nullptr, fold_rows(back.x), fold_rows(x));
    autograd::accumulate(context, x_slot, back.y);
  }
};

Var overlapped_row_parallel(Context& context, const Var& x, Parameter& weight,
                            const TensorParallel& shared) {
  context.use(weight);
  const auto product = [&](const Tensor& rows, const Tensor& y) {
    multiply(context, rows, weight, nullptr, y);
  };
  Var result = autograd::variable(
      multiply_and_scatter(context, x.value, weight.local_shape()[0], shared, product));
  if (context.recording()) {
    context.record(result.slot, RowParallelBackward{x.value, x.slot, &weight, shared});
  }
  return result;
}

}  // namespace

Var column_parallel_linear(Context& context, const Recomputable& input, Parameter& weight,
                           Parameter* bias, const TensorParallel& shared) {
  if (!shared.shared()) {
    return linear(context, input, weight, bias);
  }
  const Var& x = input.var;
  Var result = autograd::variable(column_parallel_output(context, x.value, weight, bias, shared));
  if (context.recording()) {
    context.record(result.slot, ColumnParallelBackward{autograd::SavedValue(input), x.slot, &weight,
                                                       bias, shared});
  }
  return result;
}

Var sum_to_stream(Context& context, Var x, const TensorParallel& shared) {
  if (!shared.shared()) {
    return x;
  }
  return shared.sequence_parallel ? reduce_scatter_to_sp(context, std::move(x), *shared.group)
                                  : reduce_from_tp(context, std::move(x), *shared.group);
}

Var row_parallel_linear(Context& context, const Var& x, Parameter& weight,
                        const TensorParallel& shared) {
  if (shared.overlaps()) {
    return overlapped_row_parallel(context, x, weight, shared);
  }
  return sum_to_stream(context, linear(context, x, weight, nullptr), shared);
}

}  // namespace mpitron::ops

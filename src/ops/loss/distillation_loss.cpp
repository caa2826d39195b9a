// Losses against a teacher's likeliest words beside those of labels. Two softmaxes, at temperature
// 1 and T, share the logits; both copies are overwritten by their gradients.
#include "ops/loss/distillation_loss.h"

#include <limits>

#include "autograd/gradient.h"
#include "kernels/elementwise/cross_entropy.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/elementwise/teacher.h"
#include "ops/loss/row_softmax.h"

namespace mpitron::ops {
namespace {

using tensor::Tensor;

/// No label lies behind this column.
constexpr Index kNoColumn = std::numeric_limits<Index>::max() / 2;

Tensor times(Context& context, const Tensor& x, double factor) {
  Tensor y = context.empty(x.shape(), x.dtype());
  context.launch(
      kernels::Scale{.x = x.view(), .y = y.view(), .factor = static_cast<float>(factor)});
  return y;
}

/// Overwrites both copies of the logits.
struct DistillationGradient {
  TeacherWords teacher;          // rows of tokens
  Tensor logits, soft;           // [t, v_local], as they are and divided by the temperature
  Tensor labels, lse, soft_lse;  // [t]
  autograd::Slot slot;
  Shape shape;
  Index first_column = 0;
  Index vocabulary = 0;  // 0: all columns lie here

  /// rows = dloss * (softmax - label).
  void softmax_backward(Context& context, const Tensor& rows, const Tensor& sums,
                        const Tensor& dloss, Index column) const {
    context.launch(kernels::CrossEntropyBackward{.logits = rows.view(),
                                                 .labels = labels.view(),
                                                 .lse = sums.view(),
                                                 .dloss = dloss.view(),
                                                 .dlogits = rows.view(),
                                                 .first_column = column,
                                                 .vocabulary = vocabulary});
  }

  void operator()(Context& context, const Tensor& gradient) const {
    const Tensor dloss = gradient.reshape({labels.numel()});
    const double weight = teacher.weight, soft_weight = weight * teacher.temperature;
    softmax_backward(context, logits, lse, times(context, dloss, 1 - weight), first_column);
    softmax_backward(context, soft, soft_lse, times(context, dloss, soft_weight), kNoColumn);
    context.launch(kernels::Add{.a = logits.view(), .b = soft.view(), .y = logits.view()});
    context.launch(kernels::TeacherScatter{.ids = teacher.ids.view(),
                                           .log_probs = teacher.log_probs.view(),
                                           .dloss = dloss.view(),
                                           .dlogits = logits.view(),
                                           .first_column = first_column,
                                           .temperature = teacher.temperature,
                                           .factor = soft_weight});
    autograd::accumulate(context, slot, logits.reshape(shape));
  }
};

/// Returns the match of student and teacher, [t], over the whole vocabulary.
Tensor match_of(Context& context, const Tensor& soft, const TeacherWords& teacher,
                const TensorParallel& shared) {
  const Tensor match = context.empty({soft.shape()[0]}, DType::f64);
  context.launch(kernels::TeacherMatch{.logits = soft.view(),
                                       .ids = teacher.ids.view(),
                                       .log_probs = teacher.log_probs.view(),
                                       .match = match.view(),
                                       .first_column = shared.rank() * soft.shape()[1],
                                       .temperature = teacher.temperature});
  if (shared.shared()) {
    shared.group->all_reduce(match.view()).wait();
  }
  return match;
}

}  // namespace

DistillationLosses distillation_loss(Context& context, const Var& logits, const Tensor& labels,
                                     const TeacherWords& teacher, const TensorParallel& shared) {
  const Index t = labels.numel(), v_local = logits.shape()[-1], k = teacher.ids.shape()[-1];
  TeacherWords words = teacher;
  words.ids = teacher.ids.reshape({t, k}), words.log_probs = teacher.log_probs.reshape({t, k});
  const Tensor rows = logits.value.reshape({t, v_local}), flat_labels = labels.reshape({t});
  const Tensor soft = times(context, rows, 1 / teacher.temperature);
  const RowSoftmax hard = row_softmax(context, rows, flat_labels, shared);
  const RowSoftmax mild = row_softmax(context, soft, flat_labels, shared);
  const Tensor match = match_of(context, soft, words, shared);
  const Tensor loss = context.empty(labels.shape(), hard.loss.dtype());
  const Tensor divergence = context.empty(labels.shape(), hard.loss.dtype());
  context.launch(kernels::DistillationForward{.hard = hard.loss.view(),
                                              .lse = mild.lse.view(),
                                              .match = match.view(),
                                              .log_probs = words.log_probs.view(),
                                              .loss = loss.reshape({t}).view(),
                                              .divergence = divergence.reshape({t}).view(),
                                              .temperature = teacher.temperature,
                                              .weight = teacher.weight});
  DistillationLosses told{.loss = autograd::variable(loss),
                          .label = hard.loss.reshape(labels.shape()),
                          .divergence = divergence};
  if (context.recording()) {
    context.record(told.loss.slot,
                   DistillationGradient{words, rows, soft, flat_labels, hard.lse, mild.lse,
                                        logits.slot, logits.shape(), shared.rank() * v_local,
                                        shared.shared() ? shared.size() * v_local : 0});
  }
  return told;
}

}  // namespace mpitron::ops

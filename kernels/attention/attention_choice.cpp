// Chooses among attention kernels of a GPU by shape and notes shapes that have no choice yet, for
// the tuning of a run's first step.
#include "kernels/attention/attention_choice.h"

#include "kernels/attention/attention_views.h"

namespace mpitron::kernels {
namespace {

AttentionMask mask_of(const In& mask) {
  return !mask               ? AttentionMask::none
         : mask.size(1) == 1 ? AttentionMask::keys
                             : AttentionMask::pairs;
}

template <class Kernel>
AttentionShape shape_of_pass(const Kernel& kernel, bool backward) {
  const Shape q = merged(kernel.q.shape), v = merged(kernel.v.shape);
  return {.backward = backward,
          .type = kernel.q.dtype,
          .s = q[0],
          .s_kv = v[0],
          .b = q[1],
          .n = q[2],
          .g = v[2],
          .d = q[3],
          .dv = v[3],
          .causal = kernel.causal,
          .window = kernel.window,
          .mask = mask_of(kernel.mask),
          .bias = static_cast<bool>(kernel.bias),
          .dropout = kernel.dropout.active()};
}

}  // namespace

AttentionShape shape_of(const AttentionForward& kernel) {
  return shape_of_pass(kernel, false);
}
AttentionShape shape_of(const AttentionBackward& kernel) {
  return shape_of_pass(kernel, true);
}

AttentionChoices& attention_choices() {
  static AttentionChoices choices;
  return choices;
}

MetShapes<AttentionShape>& met_attentions() {
  static MetShapes<AttentionShape> met;
  return met;
}

}  // namespace mpitron::kernels

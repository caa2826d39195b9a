// Gives recurrent mixers their projections; everything in between is the op recurrent_mixer.
#include "nn/state_space/recurrent_layers.h"

#include "ops/linear/parallel_linear.h"

namespace mpitron::nn {

BranchOutput RecurrentLayer::forward(autograd::Context& context, const autograd::Recomputable& x,
                                     const LayerInputs& inputs) const {
  autograd::Var all = ops::column_parallel_linear(context, x, *in_proj_, nullptr, shared_);
  all = in_updates_.add(context, x, std::move(all));
  const autograd::Var mixed = ops::recurrent_mixer(context, all, core_, inputs.document_starts);
  autograd::Var projected = ops::row_parallel_linear(context, mixed, *out_proj_, shared_);
  return {out_updates_.add(context, mixed, std::move(projected))};
}

}  // namespace mpitron::nn

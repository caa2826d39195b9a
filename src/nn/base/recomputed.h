#pragma once
#include "autograd/recompute.h"
#include "config/recompute_config.h"
#include "ops/parallel/keep_piece.h"

namespace mpitron::nn {

/// block(context, x), computed again in the backward pass. With `--distribute-saved-activations`
/// each tensor parallel rank keeps its piece of x.
template <class Block>
autograd::Var recomputed(autograd::Context& context, const config::RecomputeConfig& config,
                         const ops::TensorParallel& shared, const Block& block,
                         const autograd::Var& x) {
  const bool spread = config.distribute_saved_activations && !shared.cuts_sequence();
  return spread ? autograd::recompute(context, block, x, ops::KeepPiece{shared})
                : autograd::recompute(context, block, x);
}

}  // namespace mpitron::nn

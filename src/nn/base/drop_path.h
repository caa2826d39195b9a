#pragma once
#include "autograd/context.h"
#include "nn/base/branch.h"

namespace mpitron::nn {

/// Leaves a branch out for some samples (stochastic depth, Huang et al. 2016): x [s, b, h] times
/// floor(1 - rate + u) / (1 - rate), u one number for each sample. Nothing is done without
/// training.
///
/// Numerical contract: kernels::ScaleRows; u has 24 bits of Philox, keyed by seed, iteration, layer
/// and site, and counted by the sample's place in the global batch.
autograd::Var drop_path(autograd::Context& context, const autograd::Var& x, double rate,
                        const autograd::RngKey& key);

}  // namespace mpitron::nn

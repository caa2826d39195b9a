#pragma once
#include <span>
#include <string>

#include "autograd/cached_pass.h"
#include "ops/linear/low_rank.h"

namespace mpitron::nn {

/// Place where an adapter may have factors: a part of a layer, by its config::module_name, and the
/// columns of the layer's output that it writes.
struct AdapterPlace {
  std::string module;
  ops::OutputBlocks blocks;
};

/// Joins the factors of all parts of a layer whose output has `out` columns here: A [R, in], and B
/// [out, R] with the updates' factors in it, in `type`. Parameters without values where the adapter
/// has none of the parts.
///
/// Numerical contract: a value of B times the update's factor is rounded to fp32, then to `type`.
autograd::Adapter::Joined joined_factors(device::Device& device, const autograd::Adapter& adapter,
                                         std::span<const AdapterPlace> places, Index out,
                                         DType type);

}  // namespace mpitron::nn

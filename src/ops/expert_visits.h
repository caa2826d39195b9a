#pragma once
#include "kernels/expert_visits.h"
#include "ops/token_dispatcher.h"
#include "ops/top_k_routing.h"

namespace mpitron::ops {

using kernels::DropPolicy;
using kernels::ExpertCapacity;

/// The visits that a routing among `num_experts` experts makes, within the experts' capacity.
ExpertVisits expert_visits(Context& context, const Routing& routing, Index num_experts,
                           const ExpertCapacity& capacity);

}  // namespace mpitron::ops

#include "ops/expert_visits.h"

#include <numeric>

#include "ops/cast.h"
#include "ops/permute.h"
#include "ops/reshape.h"
#include "tensor/host_copy.h"

namespace mpitron::ops {
ExpertVisits expert_visits(Context& context, const Routing& routing, Index num_experts,
                           const ExpertCapacity& capacity) {
  const Tensor counts = context.empty({num_experts}, DType::i64);
  context.launch(kernels::CountVisits{.experts = routing.experts.view(), .counts = counts.view()});
  ExpertVisits visits;
  if (capacity.fixed()) {  // without waiting for the device
    visits.counts.assign(static_cast<std::size_t>(num_experts), capacity.tokens);
  } else {
    const Tensor known = tensor::to_host(context.device, counts);
    for (Index expert = 0; expert < num_experts; ++expert) {
      visits.counts.push_back(capacity.of(known.data<std::int64_t>()[expert]));
    }
  }
  const Index n = std::accumulate(visits.counts.begin(), visits.counts.end(), Index{0});
  visits.rows = context.empty({n}, DType::i64);
  const Tensor slots = context.empty({n}, DType::i64);
  context.launch_with_workspace(
      kernels::OrderVisits{.experts = routing.experts.view(),
                           .probabilities = routing.probabilities.value.view(),
                           .counts = counts.view(),
                           .rows = visits.rows.view(),
                           .slots = slots.view(),
                           .workspace = {},
                           .capacity = capacity});
  const Var flat = reshape(context, cast(context, routing.probabilities, DType::f32),
                           {routing.experts.numel(), 1});
  visits.probabilities = reshape(context, permute(context, flat, slots), {n});
  return visits;
}

}  // namespace mpitron::ops

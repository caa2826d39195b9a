#include <algorithm>

#include "plan/time/collective_time.h"
#include "plan/time/half_layer.h"

// Traffic of a layer that its work does not hide.

namespace mpitron::plan {
namespace {

/// Returns what traffic adds to work beside it: of the shorter of both, the
/// part that does not overlap.
double exposed_beside(const Stack& stack, double traffic, double work) {
  const double both =
      std::max(traffic, work) + (1 - stack.full_sharding_overlap) * std::min(traffic, work);
  return both - work;
}

}  // namespace

/// Behind products of gradients programs hide the sum over inputs' gradients and, with sequence
/// parallelism, the gather of inputs that products of weights' gradients need.
void add_tensor_traffic(const HalfLayer& half, LayerTime& result) {
  if (half.job.tensor() == 1) {
    return;
  }
  const double dense = Job::real(half.work.regions) - (half.work.visits ? 1 : 0);
  const double once = dense * gather_time(half.machine, {half.job.tensor(), 1},
                                          2 * half.job.tokens() * half.job.hidden());
  const double backward = (half.job.run.parallel.sequence_parallel ? 3 : 2) * once;
  const double hidden =
      half.stack.backward_tensor_hidden * std::min(2 * once, result.backward.products);
  result.forward.tensor = (1 - half.stack.tensor_overlap) * 2 * once;
  result.backward.tensor = (1 - half.stack.tensor_overlap) * (backward - hidden);
}

/// Keys and values pass around the ring while attention works on those of the step before;
/// gradients take them along on the way back.
void add_context_traffic(const HalfLayer& half, LayerTime& result) {
  if (half.job.context() == 1 || half.work.passed == 0) {
    return;
  }
  const double c = half.job.context();
  const RankGroup group{c, half.job.tensor()};
  const double bytes = 2 * half.job.tokens() * half.work.passed / half.job.tensor();
  const double ring = (c - 1) * send_time(half.machine, group, bytes);
  const auto exposed = [&](double traffic, double work) {
    return (1 - half.stack.context_overlap) * traffic +
           std::max(0.0, half.stack.context_overlap * traffic - work);
  };
  result.forward.context = exposed(ring, result.forward.attention);
  result.backward.context = exposed(2 * ring, result.backward.attention);
}

/// Tokens go out in the precision of expert-bytes and come back in 16 bits.
void add_expert_traffic(const HalfLayer& half, LayerTime& result) {
  if (!half.work.visits || half.job.expert() == 1) {
    return;
  }
  const RankGroup group{half.job.expert(), 1};
  const config::MoeConfig& moe = *half.job.run.model.moe;
  Exchange exchange{.tokens = half.job.tokens() / half.job.tensor(),
                    .choices = half.job.visits(),
                    .bytes = half.stack.expert_bytes * half.job.hidden(),
                    .most_parts = Job::real(moe.group_topk.value_or(0)),
                    .parts = Job::real(moe.num_groups.value_or(0))};
  double traffic = exchange_time(half.machine, group, exchange);
  exchange.bytes = 2 * half.job.hidden();
  traffic = (traffic + exchange_time(half.machine, group, exchange)) / half.stack.exchange_share;
  const bool waits =
      half.job.practice.graphs != Graphs::whole && !half.job.practice.bounded_experts;
  const double fixed = waits ? half.stack.expert_exchange : 0;  // for the counts of tokens
  const double hidden =
      half.job.run.parallel.overlap_moe_expert_parallel_comm ? half.stack.expert_overlap : 0;
  const auto exposed = [&](double work) {
    return (1 - hidden) * traffic + std::max(0.0, hidden * traffic - work);
  };
  result.forward.expert = exposed(result.forward.sum()) + fixed;
  result.backward.expert = exposed(result.backward.sum()) + fixed;
}

/// Adds weights gathered in front of each pass and gradients reduced behind it,
/// for fully sharded runs without a pipeline; others reduce once a step
/// (step_time.cpp).
void add_sharding(const Setting& setting, const HeldParameters& held, LayerTime& time) {
  const Job& job = setting.job;
  if (!job.sharded_by_layer() || job.stages() > 1 || job.data() == 1) {
    return;
  }
  const double parameters = held.dense + held.expert;
  const RankGroup group{job.data() * job.context(), job.tensor()};
  const double slower = setting.stack.sharding_traffic;
  const double gather = slower * gather_time(setting.machine, group, 2 * parameters);
  const double reduce =
      slower * gather_time(setting.machine, group, job.gradient_bytes() * parameters);
  const bool again =
      job.run.parallel.sharding_strategy == config::ShardingStrategy::optim_grads_params;
  time.forward.sharding = exposed_beside(setting.stack, gather, time.forward.sum());
  time.backward.sharding =
      exposed_beside(setting.stack, reduce + (again ? gather : 0), time.backward.sum());
}

}  // namespace mpitron::plan

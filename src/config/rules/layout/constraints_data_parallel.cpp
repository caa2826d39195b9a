#include <array>

#include <fmt/format.h>

#include "config/rules/constraint.h"

// Rules of parameters, gradients and optimizer states in pieces over data parallel ranks.

namespace mpitron::config {
namespace {

using Result = std::optional<Violation>;

Result gathered_parameters(const Facts& f) {
  const ParallelConfig& p = f.run.parallel;
  const bool sharded = p.use_distributed_optimizer || f.values.flag("use_megatron_fsdp");
  return p.overlap_param_gather && !(sharded && p.overlap_grad_reduce)
             ? Violation{"one of them is missing",
                         "--use-distributed-optimizer --overlap-grad-reduce"}
             : Result();
}

Result gathered_in_step(const Facts& f) {
  const ParallelConfig& p = f.run.parallel;
  return p.overlap_param_gather_with_optimizer_step &&
                 !(p.overlap_param_gather && p.sharding_strategy == ShardingStrategy::optim)
             ? Violation{"one of them is missing",
                         "--use-distributed-optimizer --overlap-grad-reduce --overlap-param-gather"}
             : Result();
}

Result one_bucket_rule(const Facts& f) {
  return f.run.parallel.ddp_bucket_size && f.run.parallel.ddp_num_buckets
             ? Violation{"both are given", ""}
             : Result();
}

/// Instances of the optimizer are groups of equally many data ranks.
Result optimizer_instances(const Facts& f) {
  const ParallelConfig& p = f.run.parallel;
  return divides(p.data_parallel_size, p.num_distributed_optimizer_instances,
                 nearest_divisors("num-distributed-optimizer-instances", p.data_parallel_size,
                                  p.num_distributed_optimizer_instances));
}

Result averaged_sum(const Facts& f) {
  return f.values.flag("ddp_average_in_collective") && f.run.training.calculate_per_token_loss
             ? Violation{"both are given", ""}
             : Result();
}

Result sharded_zero_bubble(const Facts& f) {
  const ParallelConfig& p = f.run.parallel;
  const bool units = p.sharding_strategy == ShardingStrategy::optim_grads ||
                     p.sharding_strategy == ShardingStrategy::optim_grads_params;
  return units && p.pipeline_schedule == PipelineSchedule::zero_bubble
             ? Violation{"zero-bubble",
                         "--pipeline-schedule 1f1b, or --data-parallel-sharding-strategy optim"}
             : Result();
}

Result hybrid_sharding(const Facts& f) {
  const ParallelConfig& p = f.run.parallel;
  const bool units = p.sharding_strategy == ShardingStrategy::optim_grads ||
                     p.sharding_strategy == ShardingStrategy::optim_grads_params;
  return p.full_sharding_in_hsdp && !(units && p.num_distributed_optimizer_instances > 1)
             ? Violation{fmt::format("{} instances, strategy {}",
                                     p.num_distributed_optimizer_instances,
                                     f.values.text("data_parallel_sharding_strategy")),
                         "--use-megatron-fsdp --data-parallel-sharding-strategy "
                         "optim_grads_params --num-distributed-optimizer-instances 2"}
             : Result();
}

constexpr std::array kDataParallelRules = std::to_array<Constraint>({
    {"E090", "gathered_parameters",
     "--overlap-param-gather needs sharded optimizer state and --overlap-grad-reduce",
     "overlap-param-gather use-distributed-optimizer overlap-grad-reduce",
     "Only sharded parameters are gathered, bucket by bucket.", gathered_parameters},
    {"E091", "one_bucket_rule", "--ddp-bucket-size or --ddp-num-buckets, not both",
     "ddp-bucket-size ddp-num-buckets", "One determines the other.", one_bucket_rule},
    {"E092", "optimizer_instances", "data_parallel_size % num_distributed_optimizer_instances == 0",
     "num-distributed-optimizer-instances", "Each instance has the same number of replicas.",
     optimizer_instances},
    {"E093", "averaged_sum", "--ddp-average-in-collective or --calculate-per-token-loss, not both",
     "ddp-average-in-collective calculate-per-token-loss",
     "The per-token loss divides by tokens, after a plain sum.", averaged_sum},
    {"E097", "sharded_zero_bubble",
     "gradients or parameters in parts go without --pipeline-schedule zero-bubble",
     "data-parallel-sharding-strategy use-megatron-fsdp pipeline-schedule",
     "A layer's gradients are reduced behind its backward pass; zero-bubble adds to them later.",
     sharded_zero_bubble},
    {"E098", "hybrid_sharding",
     "--enable-full-sharding-in-hsdp needs gradients or parameters in parts and several "
     "instances",
     "enable-full-sharding-in-hsdp data-parallel-sharding-strategy use-megatron-fsdp "
     "num-distributed-optimizer-instances",
     "It shares out what the instances would hold alike.", hybrid_sharding},
    {"E099", "gathered_in_step",
     "--overlap-param-gather-with-optimizer-step needs --overlap-param-gather and sharded "
     "optimizer "
     "state alone",
     "overlap-param-gather-with-optimizer-step overlap-param-gather use-distributed-optimizer "
     "data-parallel-sharding-strategy",
     "A bucket is gathered as soon as its parts are updated.", gathered_in_step},
});

}  // namespace

std::span<const Constraint> data_parallel_constraints() {
  return kDataParallelRules;
}

}  // namespace mpitron::config

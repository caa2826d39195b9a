#include <array>

#include <fmt/format.h>

#include "config/rules/constraint.h"

// Rules of --overlap-moe-expert-parallel-comm, by which tokens of one microbatch travel to experts
// behind the passes of another.

namespace mpitron::config {
namespace {

using Result = std::optional<Violation>;

/// Makes a rule of runs with --overlap-moe-expert-parallel-comm; it holds for all others.
template <Result (*rule)(const RunConfig&)>
Result overlapped(const Facts& f) {
  return f.run.parallel.overlap_moe_expert_parallel_comm ? rule(f.run) : Result();
}

Result several_ranks(const RunConfig& run) {
  const Index ranks = run.parallel.expert_model_parallel_size;
  if (run.model.moe && ranks > 1) {
    return {};
  }
  return Violation{
      run.model.moe ? fmt::format("the experts lie on {} rank", ranks) : "the model has no experts",
      "--expert-model-parallel-size 2"};
}

Result all_to_all(const RunConfig& run) {
  return run.model.moe && run.model.moe->dispatcher != TokenDispatcherType::alltoall
             ? Violation{"tokens travel by allgather", "--moe-token-dispatcher-type alltoall"}
             : Result();
}

Result half_precision(const RunConfig& run) {
  return run.model.params_dtype == DType::f32 ? Violation{"the model is in fp32", "--bf16"}
                                              : Result();
}

Result not_recomputed(const RunConfig& run) {
  return run.model.recompute_granularity == RecomputeGranularity::full
             ? Violation{"whole layers are computed again", "--recompute-granularity selective"}
             : Result();
}

Result shared_expert_apart(const RunConfig& run) {
  return run.model.moe && run.model.moe->shared_expert_overlap
             ? Violation{"the shared expert runs while tokens travel",
                         "leave out --moe-shared-expert-overlap"}
             : Result();
}

Result one_prediction(const RunConfig& run) {
  const Index depths = run.model.mtp_num_layers.value_or(0);
  return depths > 1 ? Violation{fmt::format("{} depths", depths), "--mtp-num-layers 1"} : Result();
}

Result several_chunks(const RunConfig& run) {
  const ParallelConfig& p = run.parallel;
  const bool interleaved = p.pipeline_schedule == PipelineSchedule::automatic ||
                           p.pipeline_schedule == PipelineSchedule::interleaved;
  const bool chunks = p.virtual_pipeline_model_parallel_size.value_or(1) > 1 ||
                      p.pipeline_model_parallel_layout.has_value();
  return p.pipeline_model_parallel_size > 1 && !(interleaved && chunks)
             ? Violation{fmt::format("{} stages that are not interleaved",
                                     p.pipeline_model_parallel_size),
                         "--num-virtual-stages-per-pipeline-rank 2"}
             : Result();
}

Result whole_gradients(const RunConfig& run) {
  const ShardingStrategy strategy = run.parallel.sharding_strategy;
  return strategy == ShardingStrategy::optim_grads ||
                 strategy == ShardingStrategy::optim_grads_params
             ? Violation{"gradients lie in parts", "--data-parallel-sharding-strategy optim"}
             : Result();
}

Result delayed_weights(const Facts& f) {
  const ParallelConfig& p = f.run.parallel;
  if (!p.delay_wgrad_compute) {
    return {};
  }
  if (!p.overlap_moe_expert_parallel_comm) {
    return Violation{"nothing travels meanwhile", "--overlap-moe-expert-parallel-comm"};
  }
  return p.deferred_embedding_wgrads ? Violation{"the output matrix waits for the end of the step",
                                                 "leave out --defer-embedding-wgrad-compute"}
                                     : Result();
}

constexpr std::array kOverlapRules = std::to_array<Constraint>({
    {"E164", "overlapped_expert_ranks",
     "--overlap-moe-expert-parallel-comm needs --expert-model-parallel-size 2 or more",
     "overlap-moe-expert-parallel-comm expert-model-parallel-size num-experts",
     "Where one rank has all experts no token travels.", overlapped<several_ranks>},
    {"E165", "overlapped_dispatch",
     "--overlap-moe-expert-parallel-comm needs --moe-token-dispatcher-type alltoall",
     "overlap-moe-expert-parallel-comm moe-token-dispatcher-type",
     "Other dispatchers wait for tokens where they ask for them.", overlapped<all_to_all>},
    {"E166", "overlapped_precision", "--overlap-moe-expert-parallel-comm needs --bf16",
     "overlap-moe-expert-parallel-comm bf16",
     "The reference overlaps models in half precision only.", overlapped<half_precision>},
    {"E167", "overlapped_recompute",
     "--overlap-moe-expert-parallel-comm excludes --recompute-granularity full",
     "overlap-moe-expert-parallel-comm recompute-granularity",
     "The passes of a layer that is computed again cannot be interrupted.",
     overlapped<not_recomputed>},
    {"E168", "one_overlap",
     "--overlap-moe-expert-parallel-comm excludes --moe-shared-expert-overlap",
     "overlap-moe-expert-parallel-comm moe-shared-expert-overlap",
     "Both fill the same time; the other microbatch fills it already.",
     overlapped<shared_expert_apart>},
    {"E169", "overlapped_predictions",
     "--overlap-moe-expert-parallel-comm needs --mtp-num-layers of at most 1",
     "overlap-moe-expert-parallel-comm mtp-num-layers",
     "The reference overlaps one depth of prediction.", overlapped<one_prediction>},
    {"E170", "overlapped_stages",
     "--overlap-moe-expert-parallel-comm with several stages needs several chunks, interleaved",
     "overlap-moe-expert-parallel-comm pipeline-model-parallel-size "
     "num-virtual-stages-per-pipeline-rank num-layers-per-virtual-pipeline-stage pipeline-schedule",
     "With one chunk a backward needs the forward that it would run beside.",
     overlapped<several_chunks>},
    {"E171", "overlapped_sharding",
     "--overlap-moe-expert-parallel-comm needs whole gradients and parameters",
     "overlap-moe-expert-parallel-comm data-parallel-sharding-strategy use-megatron-fsdp",
     "Two passes at once are in two layers; of sharded ones only one is whole.",
     overlapped<whole_gradients>},
    {"E172", "delayed_weights",
     "--delay-wgrad-compute needs --overlap-moe-expert-parallel-comm and excludes "
     "--defer-embedding-wgrad-compute",
     "delay-wgrad-compute overlap-moe-expert-parallel-comm defer-embedding-wgrad-compute",
     "Weight gradients fill the time in which tokens travel.", delayed_weights},
});

}  // namespace

std::span<const Constraint> expert_overlap_constraints() {
  return kOverlapRules;
}

}  // namespace mpitron::config

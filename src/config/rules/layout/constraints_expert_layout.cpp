#include <array>

#include <fmt/format.h>

#include "config/rules/constraint.h"

// Rules on how experts lie over ranks. Experts have a rank grid of their own over the same ranks,
// so stages and replicas of both grids must agree.

namespace mpitron::config {
namespace {

using Result = std::optional<Violation>;

bool has_experts(const Facts& f) {
  return f.run.model.moe.has_value();
}

/// Return the ranks between a rank and its neighbour in the next pipeline stage, for experts and
/// for other layers.
Index expert_stride(const ParallelConfig& p) {
  return p.expert_tensor_parallel_size * p.expert_model_parallel_size;
}
Index dense_stride(const ParallelConfig& p) {
  return p.tensor_model_parallel_size * p.context_parallel_size;
}

Result cut_sequence(const Facts& f) {
  const ParallelConfig& p = f.run.parallel;
  return has_experts(f) && p.tensor_model_parallel_size > 1 && !p.sequence_parallel
             ? Violation{fmt::format("{} tensor ranks hold the same tokens",
                                     p.tensor_model_parallel_size),
                         "--sequence-parallel"}
             : Result();
}

Result same_stages(const Facts& f) {
  const ParallelConfig& p = f.run.parallel;
  return has_experts(f) && p.use_tp_pp_dp_mapping && p.pipeline_model_parallel_size > 1 &&
                 expert_stride(p) != dense_stride(p)
             ? Violation{fmt::format("{} and {}", expert_stride(p), dense_stride(p)), ""}
             : Result();
}

Result expert_instances(const Facts& f) {
  const ParallelConfig& p = f.run.parallel;
  const Index replica = expert_stride(p) * p.pipeline_model_parallel_size;
  if (!has_experts(f) || replica <= 0) {
    return {};
  }
  const Index replicas = p.world_size / replica;
  return divides(replicas, p.num_distributed_optimizer_instances,
                 nearest_divisors("num-distributed-optimizer-instances", replicas,
                                  p.num_distributed_optimizer_instances));
}

Result width_per_expert_rank(const Facts& f) {
  if (!has_experts(f)) {
    return {};
  }
  const Index width = f.run.model.moe->ffn_hidden_size;
  const Index ranks = f.run.parallel.expert_tensor_parallel_size;
  return divides(width, ranks, nearest_divisors("expert-tensor-parallel-size", width, ranks));
}

Result overlapped_shared_expert(const Facts& f) {
  if (!f.run.model.moe || !f.run.model.moe->shared_expert_overlap) {
    return {};
  }
  const MoeConfig& m = *f.run.model.moe;
  if (m.shared_expert_intermediate_size == 0) {
    return Violation{"there is no shared expert", "--moe-shared-expert-intermediate-size N"};
  }
  if (m.dispatcher != TokenDispatcherType::alltoall) {
    return Violation{"tokens travel by allgather", "--moe-token-dispatcher-type alltoall"};
  }
  return f.run.model.recomputes(RecomputeModule::shared_experts)
             ? Violation{"the shared expert is computed again", "--recompute-modules moe_act"}
             : Result();
}

Result expert_sizes(const Facts& f) {
  const ParallelConfig& p = f.run.parallel;
  return p.expert_model_parallel_size < 1 || p.expert_tensor_parallel_size < 1
             ? Violation{fmt::format("{} and {}", p.expert_model_parallel_size,
                                     p.expert_tensor_parallel_size),
                         "--expert-model-parallel-size 1"}
             : Result();
}

constexpr std::array kExpertLayoutRules = std::to_array<Constraint>({
    {"E142", "experts_cut_sequence",
     "--num-experts with several tensor ranks needs "
     "--sequence-parallel",
     "num-experts tensor-model-parallel-size sequence-parallel",
     "Otherwise every tensor rank would send the same tokens to the experts; the reference refuses "
     "it as well.",
     cut_sequence},
    {"E143", "expert_stages",
     "expert_tensor * expert ranks == tensor * context ranks with --use-tp-pp-dp-mapping and "
     "several stages",
     "use-tp-pp-dp-mapping expert-tensor-parallel-size expert-model-parallel-size "
     "tensor-model-parallel-size context-parallel-size",
     "A layer's experts lie on the pipeline stage of its attention.", same_stages},
    {"E144", "expert_optimizer_instances",
     "world_size / (etp * ep * pp) % num_distributed_optimizer_instances == 0",
     "num-distributed-optimizer-instances expert-model-parallel-size expert-tensor-parallel-size",
     "The replicas of the experts have as many instances of the optimizer as those of other "
     "layers.",
     expert_instances},
    {"E145", "width_per_expert_rank", "moe_ffn_hidden_size % expert_tensor_parallel_size == 0",
     "moe-ffn-hidden-size expert-tensor-parallel-size",
     "Expert tensor ranks share the columns of an expert evenly.", width_per_expert_rank},
    {"E146", "expert_ranks", "expert_model_parallel_size >= 1 and expert_tensor_parallel_size >= 1",
     "expert-model-parallel-size expert-tensor-parallel-size", "Somebody holds the experts.",
     expert_sizes},
    {"E147", "overlapped_shared_expert",
     "--moe-shared-expert-overlap needs a shared expert that is not recomputed, and "
     "--moe-token-dispatcher-type alltoall",
     "moe-shared-expert-overlap moe-shared-expert-intermediate-size moe-token-dispatcher-type "
     "recompute-modules",
     "The shared expert runs while tokens are on their way to the others.",
     overlapped_shared_expert},
});

}  // namespace

std::span<const Constraint> expert_layout_constraints() {
  return kExpertLayoutRules;
}

}  // namespace mpitron::config

#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "config/rules/constraint.h"

// Rules on the layout over ranks: which sizes divide which, and what overlaps need.

namespace mpitron::config {
namespace {

using Result = std::optional<Violation>;

/// Ranks are whole replicas of the model; how many there are is the data-parallel size.
Result ranks_divide(const Facts& f) {
  const ParallelConfig& p = f.run.parallel;
  const Index replica =
      p.tensor_model_parallel_size * p.pipeline_model_parallel_size * p.context_parallel_size;
  return divides(p.world_size, replica, nearest_multiples("world-size", p.world_size, replica));
}

Result heads_per_tensor_rank(const Facts& f) {
  const Index tp = f.run.parallel.tensor_model_parallel_size;
  const Index heads = f.run.model.num_attention_heads;
  return divides(heads, tp, nearest_divisors("tensor-model-parallel-size", heads, tp));
}

/// More ranks than groups are allowed where they can share a group's columns evenly.
Result groups_per_tensor_rank(const Facts& f) {
  const Index tp = f.run.parallel.tensor_model_parallel_size;
  const Index groups = f.run.model.num_query_groups;
  // Ranks that share a group compute pieces of its key and value.
  const bool shared =
      groups > 0 && tp % groups == 0 && f.run.model.kv_channels % (tp / groups) == 0;
  return f.run.model.group_query_attention && !shared
             ? divides(groups, tp, nearest_divisors("tensor-model-parallel-size", groups, tp))
             : Result();
}

Result width_per_tensor_rank(const Facts& f) {
  const Index tp = f.run.parallel.tensor_model_parallel_size;
  return divides(f.run.model.ffn_hidden_size, tp,
                 nearest_multiples("ffn-hidden-size", f.run.model.ffn_hidden_size, tp));
}

Result vocabulary_per_tensor_rank(const Facts& f) {
  const Index tp = f.run.parallel.tensor_model_parallel_size;
  const Index rows = f.run.model.padded_vocab_size;
  return divides(rows, tp, nearest_multiples("padded-vocab-size", rows, tp));
}

/// Between attention and MLP each tensor rank of each context rank has a piece of the sequence.
Result sequence_per_tensor_rank(const Facts& f) {
  const ParallelConfig& p = f.run.parallel;
  return p.sequence_parallel ? divides(f.run.model.seq_length,
                                       p.tensor_model_parallel_size * p.context_parallel_size, "")
                             : Result();
}

Result overlapped_products(const Facts& f) {
  const ParallelConfig& p = f.run.parallel;
  return f.run.model.tp_comm_overlap && p.tensor_model_parallel_size > 1 && !p.sequence_parallel
             ? Violation{"the sequence is not split", "--sequence-parallel"}
             : Result();
}

Result spread_activations(const Facts& f) {
  if (!f.values.flag("distribute_saved_activations")) {
    return {};
  }
  const bool legal = f.run.parallel.tensor_model_parallel_size > 1 &&
                     !f.run.parallel.sequence_parallel &&
                     f.run.model.recompute_granularity == RecomputeGranularity::full;
  return legal ? Result() : Violation{"one of these is missing", "--recompute-granularity full"};
}

/// Experts divide among expert ranks, and the grid of experts, which has axes of its own, among all
/// ranks.
Result experts_divide(const Facts& f) {
  const ParallelConfig& p = f.run.parallel;
  const Index experts = f.run.model.moe ? f.run.model.moe->num_experts : 0;
  if (experts == 0) {
    return p.expert_model_parallel_size > 1 ? Violation{"there are no experts", "--num-experts N"}
                                            : Result();
  }
  if (const Result uneven_share = divides(
          experts, p.expert_model_parallel_size,
          nearest_divisors("expert-model-parallel-size", experts, p.expert_model_parallel_size))) {
    return uneven_share;
  }
  const Index grid =
      p.expert_tensor_parallel_size * p.expert_model_parallel_size * p.pipeline_model_parallel_size;
  return divides(p.world_size, grid, nearest_multiples("world-size", p.world_size, grid));
}

/// Lists the settings that do not go with biases of experts; --disable-bias-linear mends each of
/// them, too.
Result biases_of_experts(const Facts& f) {
  const ModelConfig& m = f.run.model;
  if (!m.moe || !m.add_bias_linear) {
    return {};
  }
  const std::pair<bool, const char*> faults[] = {
      {m.moe->shared_expert_intermediate_size > 0, "no --moe-shared-expert-intermediate-size"},
      {f.values.flag("moe_use_upcycling"), "no --moe-use-upcycling"}};
  std::vector<std::string> wanted;
  for (const auto& [fault, fix] : faults) {
    if (fault) {
      wanted.emplace_back(fix);
    }
  }
  return wanted.empty() ? Result()
                        : Violation{"biases are on", fmt::format("--disable-bias-linear | {}",
                                                                 fmt::join(wanted, ", "))};
}

constexpr std::array kLayoutRules = std::to_array<Constraint>({
    {"E070", "ranks_divide", "world_size % (tensor * pipeline * context ranks) == 0",
     "world-size tensor-model-parallel-size pipeline-model-parallel-size context-parallel-size",
     "What is left over would be part of no replica.", ranks_divide},
    {"E071", "heads_per_tensor_rank", "num_attention_heads % tensor_model_parallel_size == 0",
     "num-attention-heads tensor-model-parallel-size", "Tensor ranks share whole heads.",
     heads_per_tensor_rank},
    {"E072", "groups_per_tensor_rank", "num_query_groups % tensor_model_parallel_size == 0",
     "num-query-groups tensor-model-parallel-size",
     "Tensor ranks share whole key/value heads; more ranks than heads share equal pieces of one "
     "(ranks % groups == 0 and kv_channels % (ranks / groups) == 0).",
     groups_per_tensor_rank},
    {"E073", "width_per_tensor_rank", "ffn_hidden_size % tensor_model_parallel_size == 0",
     "ffn-hidden-size tensor-model-parallel-size",
     "Tensor ranks share the columns of the MLP evenly.", width_per_tensor_rank},
    {"E074", "vocabulary_per_tensor_rank", "padded_vocab_size % tensor_model_parallel_size == 0",
     "padded-vocab-size tensor-model-parallel-size",
     "Tensor ranks share the rows of the embedding evenly.", vocabulary_per_tensor_rank},
    {"E075", "sequence_per_tensor_rank",
     "seq_length % (tensor * context ranks) == 0 with --sequence-parallel",
     "seq-length tensor-model-parallel-size context-parallel-size sequence-parallel",
     "Activations outside attention are split along the sequence.", sequence_per_tensor_rank},
    {"E094", "spread_activations",
     "--distribute-saved-activations needs full recompute and several tensor ranks, "
     "without --sequence-parallel",
     "distribute-saved-activations recompute-granularity tensor-model-parallel-size "
     "sequence-parallel",
     "It splits what full recompute stores.", spread_activations},
    {"E095", "experts_divide",
     "num_experts % expert_model_parallel_size == 0 and world_size % (etp * ep * pp) == 0",
     "num-experts expert-model-parallel-size expert-tensor-parallel-size world-size",
     "Ranks hold the same number of experts, in a grid of their own.", experts_divide},
    {"E096", "biases_of_experts", "experts with biases have no shared one and are not upcycled",
     "num-experts disable-bias-linear moe-shared-expert-intermediate-size moe-use-upcycling",
     "The reference has no such biases; GPT-OSS, whose experts have them, has no such parts.",
     biases_of_experts},
    {"E100", "overlapped_products", "--tp-comm-overlap needs --sequence-parallel",
     "tp-comm-overlap sequence-parallel tensor-model-parallel-size",
     "Products run on the pieces of the sequence that are there while others travel.",
     overlapped_products},
});

}  // namespace

std::span<const Constraint> layout_constraints() {
  return kLayoutRules;
}

}  // namespace mpitron::config

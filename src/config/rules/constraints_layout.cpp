#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "config/rules/constraint.h"

// Rules on the layout over ranks: which sizes divide which, what overlaps need, and how attention
// travels.

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

/// Each context rank takes one piece from the front and one from the back, so that causal attention
/// is as much work on all.
Result sequence_per_context_rank(const Facts& f) {
  const Index cp = f.run.parallel.context_parallel_size;
  const Index length = f.run.model.seq_length;
  return cp > 1 ? divides(length, 2 * cp, nearest_multiples("seq-length", length, 2 * cp))
                : Result();
}

/// Returns whether the attention of some layer travels so.
bool travels_by(const ParallelConfig& p, std::string_view word) {
  return std::ranges::find(p.cp_comm_type, word) != p.cp_comm_type.end();
}

/// Levels multiply to all context ranks; a2a+p2p has exactly two, the inner one first.
Result context_groups(const Facts& f) {
  const ParallelConfig& p = f.run.parallel;
  const std::vector<Index>& sizes = p.hierarchical_context_parallel_sizes;
  Index product = 1;
  for (const Index size : sizes) {
    product *= size;
  }
  const bool levels = !travels_by(p, "a2a+p2p") || sizes.size() == 2;
  if (levels && (sizes.empty() || product == p.context_parallel_size)) {
    return {};
  }
  return Violation{!levels ? fmt::format("a2a+p2p with {} sizes", sizes.size())
                           : fmt::format("{} = {}, context_parallel_size {}",
                                         fmt::join(sizes, " * "), product, p.context_parallel_size),
                   ""};
}

/// One word for all layers, or one for each.
Result context_types(const Facts& f) {
  const auto count = static_cast<Index>(f.run.parallel.cp_comm_type.size());
  return count <= 1 || count == f.run.model.num_layers
             ? Result()
             : Violation{fmt::format("{} words for {} layers", count, f.run.model.num_layers),
                         "--cp-comm-type p2p"};
}

/// Divides heads among the context ranks that exchange them, all or the inner ones: nothing may be
/// left.
Result heads_per_context_rank(const Facts& f) {
  const ParallelConfig& p = f.run.parallel;
  const Index tp = p.tensor_model_parallel_size;
  Index ranks = travels_by(p, "a2a") ? p.context_parallel_size : 1;
  if (travels_by(p, "a2a+p2p") && !p.hierarchical_context_parallel_sizes.empty()) {
    ranks = std::max(ranks, p.hierarchical_context_parallel_sizes.front());
  }
  if (ranks <= 1 || p.context_parallel_size <= 1 || tp <= 0) {
    return {};
  }
  const std::string nearest = "--cp-comm-type p2p";
  if (Result heads = divides(f.run.model.num_attention_heads, tp * ranks, nearest)) {
    return heads;
  }
  // With fewer groups than tensor ranks each of these has one.
  const Index groups = std::max(f.run.model.num_query_groups / tp, Index{1});
  return divides(groups, ranks, nearest);
}

/// Ranks that exchange heads would need the rows of the mask of all ranks.
Result masks_by_rows(const Facts& f) {
  const ParallelConfig& p = f.run.parallel;
  if (!f.run.model.reset_attention_mask || p.context_parallel_size <= 1) {
    return {};
  }
  for (const char* word : {"a2a", "a2a+p2p"}) {
    if (travels_by(p, word)) {
      return Violation{fmt::format("--cp-comm-type {} of documents that hide each other", word),
                       "--cp-comm-type p2p | --cp-comm-type all_gather"};
    }
  }
  return {};
}

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
      {f.run.parallel.expert_tensor_parallel_size > 1, "--expert-tensor-parallel-size 1"},
      {m.moe->shared_expert_intermediate_size > 0, "no --moe-shared-expert-intermediate-size"},
      {m.moe->router_dtype.value_or(m.params_dtype) != m.params_dtype, "no --moe-router-dtype"},
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
    {"E076", "sequence_per_context_rank", "seq_length % (2 * context_parallel_size) == 0",
     "seq-length context-parallel-size",
     "Each rank holds one early and one late chunk, so that causal attention costs all ranks the "
     "same.",
     sequence_per_context_rank},
    {"E077", "context_groups",
     "hierarchical sizes multiply to context_parallel_size; a2a+p2p needs two",
     "hierarchical-context-parallel-sizes context-parallel-size cp-comm-type",
     "The inner group exchanges heads, the outer one passes keys and values around.",
     context_groups},
    {"E078", "context_types", "--cp-comm-type has one word, or one per layer",
     "cp-comm-type num-layers", "Layers may differ in how attention travels.", context_types},
    {"E079", "heads_per_context_rank",
     "num_attention_heads % (tensor * a2a ranks) == 0 and query groups of a tensor rank % a2a "
     "ranks == 0",
     "cp-comm-type context-parallel-size hierarchical-context-parallel-sizes num-attention-heads "
     "num-query-groups tensor-model-parallel-size",
     "a2a gives each context rank whole heads; a2a+p2p does so among the first of the hierarchical "
     "sizes.",
     heads_per_context_rank},
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
    {"E096", "biases_of_experts",
     "experts with biases lie whole on their ranks, have no shared one and a router of their type",
     "num-experts disable-bias-linear expert-tensor-parallel-size moe-router-dtype",
     "A cut expert's bias would be added by each of its ranks.", biases_of_experts},
    {"E097", "sharded_zero_bubble",
     "gradients or parameters in parts go without --pipeline-schedule zero-bubble",
     "data-parallel-sharding-strategy use-megatron-fsdp pipeline-schedule",
     "A layer's gradients are reduced behind its backward pass; zero-bubble adds to them later.",
     sharded_zero_bubble},
    {"E098", "hybrid_sharding",
     "--enable-full-sharding-in-hsdp needs gradients or parameters in parts and several instances",
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
    {"E100", "overlapped_products", "--tp-comm-overlap needs --sequence-parallel",
     "tp-comm-overlap sequence-parallel tensor-model-parallel-size",
     "Products run on the pieces of the sequence that are there while others travel.",
     overlapped_products},
    {"E101", "masks_by_rows", "--cp-comm-type a2a and a2a+p2p exclude masks of documents",
     "cp-comm-type context-parallel-size reset-attention-mask sft-packing "
     "dataloader-inter-document-masking",
     "A rank knows which document its own rows belong to, and exchanged heads need all rows.",
     masks_by_rows},
});

}  // namespace

std::span<const Constraint> layout_constraints() {
  return kLayoutRules;
}

}  // namespace mpitron::config

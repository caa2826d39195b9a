#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "config/rules/constraint.h"

// Rules of sequences that are divided over context parallel ranks.

namespace mpitron::config {
namespace {

using Result = std::optional<Violation>;

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

constexpr std::array kContextRules = std::to_array<Constraint>({
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
     "a2a gives each context rank whole heads; a2a+p2p does so among the first of the "
     "hierarchical "
     "sizes.",
     heads_per_context_rank},
    {"E101", "masks_by_rows", "--cp-comm-type a2a and a2a+p2p exclude masks of documents",
     "cp-comm-type context-parallel-size reset-attention-mask sft-packing "
     "dataloader-inter-document-masking",
     "A rank knows which document its own rows belong to, and exchanged heads need all rows.",
     masks_by_rows},
});

}  // namespace

std::span<const Constraint> context_constraints() {
  return kContextRules;
}

}  // namespace mpitron::config

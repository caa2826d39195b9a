#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "config/rules/constraint.h"
#include "config/rules/rule_parts.h"
#include "utils/numbers/shape.h"

// Rules on experts: their sizes, their places and their capacity.

namespace mpitron::config {
namespace {

using Result = std::optional<Violation>;

Result sizes(const Facts& f, const MoeConfig& m) {
  std::vector<std::string> bad;
  const auto at_least = [&](const char* name, Index value, Index least) {
    if (value < least) {
      bad.push_back(fmt::format("{} = {}", name, value));
    }
  };
  at_least("num_experts", m.num_experts, 1);
  if (m.num_experts > kMostExperts) {
    bad.push_back(fmt::format("num_experts = {}", m.num_experts));
  }
  at_least("moe_ffn_hidden_size", m.ffn_hidden_size, 1);
  at_least("moe_shared_expert_intermediate_size", m.shared_expert_intermediate_size,
           f.values.given("moe_shared_expert_intermediate_size") ? 1 : 0);
  return bad.empty() ? Result() : Violation{fmt::format("{}", fmt::join(bad, ", ")), ""};
}

/// Looks at a number alone, or at a list's marks, its length, and whether it marks a layer at all.
Result placement(const Facts& f, const MoeConfig& m) {
  const Frequency frequency = parse_list_expression(f.values.text("moe_layer_freq"));
  const auto entries = static_cast<Index>(frequency.entries.size());
  if (!frequency.is_list) {
    return frequency.number >= 1 ? Result()
                                 : Violation{fmt::format("every {}-th layer", frequency.number),
                                             "--moe-layer-freq 1"};
  }
  const bool marks =
      std::ranges::all_of(frequency.entries, [](Index entry) { return entry == 0 || entry == 1; });
  if (!marks) {
    return Violation{"the list has entries other than 0 and 1", ""};
  }
  if (entries != f.run.model.num_layers) {
    return Violation{
        fmt::format("the list has {} entries for {} layers", entries, f.run.model.num_layers),
        fmt::format("--num-layers {}", entries)};
  }
  return m.count_layers() > 0 ? Result() : Violation{"the list marks no layer", ""};
}

/// A capacity limits the tokens that an expert takes; the reference refuses it with sinkhorn, too.
Result capacity(const Facts&, const MoeConfig& m) {
  if (!m.capacity_factor) {
    return m.pad_to_capacity
               ? Violation{"there is no capacity to fill", "--moe-expert-capacity-factor 1.0"}
               : Result();
  }
  if (*m.capacity_factor <= 0) {
    return Violation{fmt::format("factor {}", *m.capacity_factor),
                     "--moe-expert-capacity-factor 1.0"};
  }
  return m.sinkhorn
             ? Violation{"the balancing is sinkhorn", "--moe-router-load-balancing-type aux_loss"}
             : Result();
}

Result weighted_input(const Facts&, const MoeConfig& m) {
  return m.apply_probs_on_input && m.topk != 1
             ? Violation{fmt::format("top-{}", m.topk), "--moe-router-topk 1"}
             : Result();
}

Result half_precision_ranks(const Facts& f, const MoeConfig&) {
  return f.run.optimizer.fp16 && f.run.parallel.expert_model_parallel_size > 1
             ? Violation{"--fp16 is given", "--bf16"}
             : Result();
}

constexpr std::array kMoeRules = std::to_array<Constraint>({
    {"E130", "expert_sizes", "1 <= num_experts <= 2048, widths of experts are at least 1",
     "num-experts moe-ffn-hidden-size moe-shared-expert-intermediate-size",
     "A size of zero or less describes nothing.", with_experts<sizes>},
    {"E131", "expert_layers", "moe_layer_freq >= 1, or a list of 0 and 1, one for each layer",
     "moe-layer-freq num-layers",
     "A number n gives experts to every n-th layer from the first on; a list marks them by 1.",
     with_experts<placement>},
    {"E137", "expert_capacity",
     "moe_expert_capacity_factor > 0; --moe-pad-expert-input-to-capacity needs it; not with "
     "sinkhorn",
     "moe-expert-capacity-factor moe-pad-expert-input-to-capacity moe-router-load-balancing-type",
     "Each expert takes ceil(tokens * topk / experts * factor) tokens.", with_experts<capacity>},
    {"E138", "weighted_input", "--moe-apply-probs-on-input needs --moe-router-topk 1",
     "moe-apply-probs-on-input moe-router-topk",
     "With several experts a token has no one probability.", with_experts<weighted_input>},
    {"E140", "half_precision_experts", "--fp16 needs --expert-model-parallel-size 1",
     "fp16 expert-model-parallel-size",
     "The reference scales no fp16 gradients of experts that ranks share.",
     with_experts<half_precision_ranks>},
});

}  // namespace

std::span<const Constraint> moe_constraints() {
  return kMoeRules;
}

}  // namespace mpitron::config

#include <algorithm>
#include <array>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "config/rules/constraint.h"
#include "utils/numbers/shape.h"

// Rules on experts and their routers.

namespace mpitron::config {
namespace {

using Result = std::optional<Violation>;

/// Makes a rule of models with experts; it holds for all others.
template <Result (*rule)(const Facts&, const MoeConfig&)>
Result with_experts(const Facts& f) {
  return f.run.model.moe ? rule(f, *f.run.model.moe) : Result();
}

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

Result topk(const Facts&, const MoeConfig& m) {
  if (m.topk >= 1 && m.topk <= m.num_experts) {
    return {};
  }
  return Violation{fmt::format("{} of {} experts", m.topk, m.num_experts),
                   fmt::format("--moe-router-topk {}",
                               std::clamp<Index>(m.topk, 1, std::max<Index>(1, m.num_experts)))};
}

/// Sinkhorn weighs a single expert by the sigmoid of its logit (nn's routing_rule), which is no
/// constant.
Result one_expert_score(const Facts&, const MoeConfig& m) {
  const bool constant = m.topk == 1 && m.score == RouterScore::softmax && !m.pre_softmax;
  return constant && !m.sinkhorn
             ? Violation{"the softmax of one expert is 1", "--moe-router-pre-softmax"}
             : Result();
}

/// Checks that groups divide the experts, and that the best groups have room for the top-k.
Result groups(const Facts&, const MoeConfig& m) {
  if (!m.num_groups && !m.group_topk) {
    return {};
  }
  if (!m.num_groups || !m.group_topk) {
    return Violation{"one of them is missing",
                     "--moe-router-num-groups N "
                     "--moe-router-group-topk K"};
  }
  const Index count = *m.num_groups, chosen = *m.group_topk;
  if (count < 1 || chosen < 1 || chosen > count) {
    return Violation{fmt::format("{} of {} groups", chosen, count), ""};
  }
  if (m.num_experts % count != 0) {
    return Violation{fmt::format("{} % {} = {}", m.num_experts, count, m.num_experts % count),
                     nearest_divisors("moe-router-num-groups", m.num_experts, count)};
  }
  const Index in_group = m.num_experts / count;
  if (m.topk % chosen != 0 || m.topk / chosen > in_group) {
    return Violation{fmt::format("top-{} from {} groups of {} experts", m.topk, chosen, in_group),
                     nearest_multiples("moe-router-topk", m.topk, chosen)};
  }
  return {};
}

Result expert_bias(const Facts&, const MoeConfig& m) {
  if (!m.expert_bias) {
    return {};
  }
  if (m.score != RouterScore::sigmoid || m.sinkhorn) {
    return Violation{m.sinkhorn ? "the balancing is sinkhorn" : "the score is softmax",
                     "--moe-router-score-function sigmoid"};
  }
  return m.bias_update_rate > 0 ? Result()
                                : Violation{fmt::format("rate {}", m.bias_update_rate),
                                            "--moe-router-bias-update-rate 0.001"};
}

/// Looks at coefficients, then kinds that stand alone, then repetitions, then the number of both.
Result balancing(const Facts& f, const MoeConfig& m) {
  const std::vector<std::string> kinds = f.values.words("moe_router_load_balancing_type");
  const std::vector<std::string> coefficients = f.values.words("moe_aux_loss_coeff");
  for (const std::string& word : coefficients) {
    const double coefficient = read_real(word).value_or(0);
    if (coefficient < 0 || (m.sinkhorn && coefficient > 0)) {
      return Violation{fmt::format("coefficient {}{}", word, m.sinkhorn ? " with sinkhorn" : ""),
                       "--moe-aux-loss-coeff 0"};
    }
  }
  if (kinds.size() > 1 && (m.sinkhorn || std::ranges::count(kinds, "none") > 0)) {
    return Violation{fmt::format("{}", fmt::join(kinds, " ")),
                     "--moe-router-load-balancing-type aux_loss seq_aux_loss"};
  }
  std::vector<std::string> once;
  std::ranges::copy_if(kinds, std::back_inserter(once), [&](const std::string& kind) {
    return std::ranges::find(once, kind) == once.end();
  });
  if (once.size() < kinds.size()) {
    return Violation{fmt::format("{}: one is listed twice", fmt::join(kinds, " ")),
                     fmt::format("--moe-router-load-balancing-type {}", fmt::join(once, " "))};
  }
  const bool defaults = !f.values.given("moe_aux_loss_coeff");
  if (kinds.size() != coefficients.size() && !defaults) {
    return Violation{fmt::format("{} kinds, {} coefficients", kinds.size(), coefficients.size()),
                     ""};
  }
  return {};
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

Result router_constants(const Facts&, const MoeConfig& m) {
  const double jitter = m.input_jitter_eps.value_or(0);
  if (jitter >= 0 && jitter < 1 && m.z_loss_coefficient >= 0 &&
      m.topk_scaling_factor.value_or(1) > 0) {
    return {};
  }
  return Violation{fmt::format("jitter {}, z loss {}, scaling {}", jitter, m.z_loss_coefficient,
                               m.topk_scaling_factor.value_or(1)),
                   ""};
}

Result half_precision_ranks(const Facts& f, const MoeConfig&) {
  return f.run.optimizer.fp16 && f.run.parallel.expert_model_parallel_size > 1
             ? Violation{"--fp16 is given", "--bf16"}
             : Result();
}

}  // namespace

std::span<const Constraint> moe_constraints() {
  static constexpr std::array kRules = std::to_array<Constraint>({
      {"E130", "expert_sizes", "1 <= num_experts <= 2048, widths of experts are at least 1",
       "num-experts moe-ffn-hidden-size moe-shared-expert-intermediate-size",
       "A size of zero or less describes nothing.", with_experts<sizes>},
      {"E131", "expert_layers", "moe_layer_freq >= 1, or a list of 0 and 1, one for each layer",
       "moe-layer-freq num-layers",
       "A number n gives experts to every n-th layer from the first on; a list marks them by 1.",
       with_experts<placement>},
      {"E132", "router_topk", "1 <= moe_router_topk <= num_experts", "moe-router-topk num-experts",
       "A token visits that many different experts.", with_experts<topk>},
      {"E133", "one_expert_score",
       "--moe-router-topk 1 with softmax needs --moe-router-pre-softmax",
       "moe-router-topk moe-router-pre-softmax moe-router-score-function",
       "The softmax over the chosen expert alone is always 1: the router would learn nothing.",
       with_experts<one_expert_score>},
      {"E134", "router_groups",
       "num_experts % num_groups == 0, group_topk <= num_groups, topk % group_topk == 0",
       "moe-router-num-groups moe-router-group-topk moe-router-topk num-experts",
       "A token chooses among the experts of its best groups; a group counts with its best topk / "
       "group_topk experts.",
       with_experts<groups>},
      {"E135", "expert_bias", "--moe-router-enable-expert-bias needs sigmoid scores and a rate > 0",
       "moe-router-enable-expert-bias moe-router-score-function moe-router-bias-update-rate",
       "The bias is added to scores for choosing only, which a softmax over the chosen would undo.",
       with_experts<expert_bias>},
      {"E136", "expert_balancing",
       "each balancing loss once, with a coefficient >= 0; sinkhorn and none stand alone, without "
       "one",
       "moe-router-load-balancing-type moe-aux-loss-coeff",
       "Losses and coefficients belong together by their places. (Of a loss that is listed twice "
       "the reference takes the first coefficient.)",
       with_experts<balancing>},
      {"E137", "expert_capacity",
       "moe_expert_capacity_factor > 0; --moe-pad-expert-input-to-capacity needs it; not with "
       "sinkhorn",
       "moe-expert-capacity-factor moe-pad-expert-input-to-capacity moe-router-load-balancing-type",
       "Each expert takes ceil(tokens * topk / experts * factor) tokens.", with_experts<capacity>},
      {"E138", "weighted_input", "--moe-apply-probs-on-input needs --moe-router-topk 1",
       "moe-apply-probs-on-input moe-router-topk",
       "With several experts a token has no one probability.", with_experts<weighted_input>},
      {"E139", "router_constants", "0 <= jitter < 1, z loss >= 0, scaling factor > 0",
       "moe-input-jitter-eps moe-z-loss-coeff moe-router-topk-scaling-factor",
       "The router's input is multiplied by a factor between 1 - eps and 1 + eps.",
       with_experts<router_constants>},
      {"E140", "half_precision_experts", "--fp16 needs --expert-model-parallel-size 1",
       "fp16 expert-model-parallel-size",
       "The reference scales no fp16 gradients of experts that ranks share.",
       with_experts<half_precision_ranks>},
  });
  return kRules;
}

}  // namespace mpitron::config

#include <algorithm>
#include <array>
#include <iterator>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "config/rules/constraint.h"
#include "config/rules/rule_parts.h"
#include "utils/numbers/shape.h"

// Rules of the router: how many experts a token has, their groups and their balance.

namespace mpitron::config {
namespace {

using Result = std::optional<Violation>;

Result router_topk(const Facts&, const MoeConfig& m) {
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
  if (m.score == RouterScore::softmax || m.sinkhorn) {
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

constexpr std::array kRouterRules = std::to_array<Constraint>({
    {"E132", "router_topk", "1 <= moe_router_topk <= num_experts", "moe-router-topk num-experts",
     "A token visits that many different experts.", with_experts<router_topk>},
    {"E133", "one_expert_score", "--moe-router-topk 1 with softmax needs --moe-router-pre-softmax",
     "moe-router-topk moe-router-pre-softmax moe-router-score-function",
     "The softmax over the chosen expert alone is always 1: the router would learn nothing.",
     with_experts<one_expert_score>},
    {"E134", "router_groups",
     "num_experts % num_groups == 0, group_topk <= num_groups, topk % group_topk == 0",
     "moe-router-num-groups moe-router-group-topk moe-router-topk num-experts",
     "A token chooses among the experts of its best groups; a group counts with its best topk / "
     "group_topk experts.",
     with_experts<groups>},
    {"E135", "expert_bias",
     "--moe-router-enable-expert-bias needs sigmoid or sqrtsoftplus scores and a rate > 0",
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
    {"E139", "router_constants", "0 <= jitter < 1, z loss >= 0, scaling factor > 0",
     "moe-input-jitter-eps moe-z-loss-coeff moe-router-topk-scaling-factor",
     "The router's input is multiplied by a factor between 1 - eps and 1 + eps.",
     with_experts<router_constants>},
});

}  // namespace

std::span<const Constraint> router_constraints() {
  return kRouterRules;
}

}  // namespace mpitron::config

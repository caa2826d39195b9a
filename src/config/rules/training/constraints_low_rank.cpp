#include <algorithm>
#include <array>

#include <fmt/format.h>

#include "config/layer_pattern.h"
#include "config/rules/constraint.h"
#include "config/rules/rule_parts.h"
#include "config/values/list_expression.h"

// Rules of low-rank updates, and of the weights in 4 bits that they stand on.

namespace mpitron::config {
namespace {

using Result = std::optional<Violation>;

/// An adapter that is loaded says its own values. A pattern must name modules with positive
/// numbers, and the first target must be a valid expression if it is one.
Result low_rank_values(const Facts& f) {
  const auto& lora = f.run.model.lora;
  if (!lora || f.run.checkpoint.load_adapter) {
    return {};
  }
  if (lora->rank < 1 || lora->alpha <= 0 || lora->dropout < 0 || lora->dropout >= 1) {
    return Violation{
        fmt::format("rank {}, alpha {}, dropout {}", lora->rank, lora->alpha, lora->dropout),
        "--lora-rank 16 --lora-alpha 32"};
  }
  for (const char* name : {"lora_rank_pattern", "lora_alpha_pattern"}) {
    const auto pattern = number_pattern(f.values.maybe_text(name).value_or(""));
    if (!pattern ||
        std::ranges::any_of(*pattern, [](const auto& entry) { return entry.second <= 0; })) {
      return Violation{f.values.text(name), "layers.1.self_attn.q_proj=8"};
    }
  }
  if (lora->target_modules.empty()) {
    return Violation{"no --lora-target-modules", "all-linear"};
  }
  const std::string& target = lora->target_modules.front();
  const std::string problem = is_expression(target) ? problem_of_expression(target) : "";
  return problem.empty() ? Result() : Violation{problem, ".*self_attn\\.(q|v)_proj"};
}

/// With --load-adapter even an option that agrees with the adapter's file is refused.
Result low_rank_needs_a_rank(const Facts& f) {
  const bool reads = f.run.checkpoint.load_adapter.has_value();
  for (const char* name : {"lora_rank", "lora_alpha", "lora_dropout", "lora_target_modules",
                           "lora_rslora", "lora_rank_pattern", "lora_alpha_pattern"}) {
    if (f.values.given(name) && reads) {
      return Violation{fmt::format("{} beside --load-adapter", name), "--load-adapter alone"};
    }
    if (f.values.given(name) && !f.run.model.lora) {
      return Violation{fmt::format("{} without a rank", name), "--lora-rank 16"};
    }
  }
  return {};
}

/// Returns why low-rank updates of this model are not there; null where they are.
const char* without_low_rank(const RunConfig& run) {
  const ModelConfig& m = run.model;
  return !m.family().decoder_only           ? "another model than GPT"
         : m.mtp_num_layers.value_or(0) > 0 ? "--mtp-num-layers"
         : m.attention_output_gate          ? "--attention-output-gate"
         : m.moe && m.lora->dropout > 0     ? "--lora-dropout with experts"
         : m.num_query_groups < run.parallel.tensor_model_parallel_size
             ? "more tensor parallel ranks than query groups"
             : nullptr;
}

Result low_rank_models(const Facts& f) {
  const char* problem = f.run.model.lora ? without_low_rank(f.run) : nullptr;
  return problem != nullptr ? Violation{problem, ""} : Result();
}

Result low_rank_alone(const Facts& f) {
  return f.run.model.lora && freezes(f.run.model)
             ? Violation{"--freeze-layers or --freeze-embeddings given", "--lora-rank alone"}
             : Result();
}

/// Returns the first size that is no multiple of the weights that share a scale; an empty text
/// where all are. Weights that write into the stream are cut by their inputs.
std::string uneven_inputs(const RunConfig& run) {
  constexpr Index kGroup = 64;  // kernels/linear/normal_float.h
  const ModelConfig& m = run.model;
  const Index ranks = run.parallel.tensor_model_parallel_size;
  const Index heads = m.multi_latent_attention ? m.v_head_dim : m.kv_channels;
  const DeltaNetConfig& net = m.hybrid.delta_net;
  const std::pair<const char*, Index> sizes[] = {
      {"--hidden-size", m.hidden_size},
      {"values of heads on a rank", m.num_attention_heads * heads / ranks},
      {"--ffn-hidden-size on a rank", m.ffn_hidden_size / ranks},
      {"--moe-ffn-hidden-size on a rank",
       m.moe ? m.moe->ffn_hidden_size / run.parallel.expert_tensor_parallel_size : 0},
      {"shared expert on a rank", m.moe ? m.moe->shared_expert_intermediate_size / ranks : 0},
      {"--q-lora-rank", m.multi_latent_attention ? m.q_lora_rank.value_or(0) : 0},
      {"--kv-lora-rank", m.multi_latent_attention ? m.kv_lora_rank : 0},
      {"Mamba's width on a rank",
       has_mixer(m, MixerKind::state_space) ? m.hybrid.mamba.width() / ranks : 0},
      {"values of delta nets on a rank",
       has_mixer(m, MixerKind::delta_net) ? net.values() / ranks : 0},
  };
  const auto* const uneven =
      std::ranges::find_if(sizes, [](const auto& size) { return size.second % kGroup != 0; });
  return uneven == std::end(sizes) ? "" : fmt::format("{} {}", uneven->first, uneven->second);
}

/// Checks that 4-bit weights stand below low-rank updates, and divide into groups that
/// share a scale.
Result four_bit_base(const Facts& f) {
  if (!f.values.maybe_text("lora_base_weights")) {
    return {};
  }
  if (!f.run.model.lora) {
    return Violation{"lora_base_weights without a rank", "--lora-rank 16"};
  }
  const std::string given = f.run.model.fp8               ? "--fp8-format"
                            : f.run.model.tp_comm_overlap ? "--tp-comm-overlap"
                                                          : uneven_inputs(f.run);
  return given.empty() ? Result() : Violation{given, ""};
}

constexpr std::array kLowRankRules = std::to_array<Constraint>({
    {"E316", "low_rank_values",
     "--lora-rank >= 1, --lora-alpha > 0, 0 <= "
     "--lora-dropout < 1, patterns MODULE=NUMBER",
     "lora-rank lora-alpha lora-dropout "
     "lora-target-modules lora-rank-pattern "
     "lora-alpha-pattern",
     "An update is alpha / rank times the product of two "
     "factors.",
     low_rank_values},
    {"E317", "low_rank_needs_a_rank",
     "--lora-... options need --lora-rank, and exclude "
     "--load-adapter",
     "lora-rank lora-alpha lora-dropout "
     "lora-target-modules lora-rslora lora-rank-pattern "
     "lora-alpha-pattern load-adapter",
     "An adapter's files say all of this.", low_rank_needs_a_rank},
    {"E318", "low_rank_models",
     "--lora-rank is for GPT and hybrids, --lora-dropout for those without experts",
     "lora-rank tensor-model-parallel-size lora-dropout",
     "Other layers have no low-rank updates yet.", low_rank_models},
    {"E319", "low_rank_alone",
     "--lora-rank excludes --freeze-layers and "
     "--freeze-embeddings",
     "lora-rank freeze-layers freeze-embeddings", "With low-rank updates nothing else is trained.",
     low_rank_alone},
    {"E324", "four_bit_base",
     "--lora-base-weights is for --lora-rank or --load-adapter without --fp8-format "
     "and --tp-comm-overlap; 64 divides every weight's inputs on a rank",
     "lora-base-weights lora-rank load-adapter fp8-format tp-comm-overlap hidden-size "
     "ffn-hidden-size tensor-model-parallel-size",
     "64 weights of a row share a scale, whatever the layout, and a product reads its weight "
     "once.",
     four_bit_base},
});

}  // namespace

std::span<const Constraint> low_rank_constraints() {
  return kLowRankRules;
}

}  // namespace mpitron::config

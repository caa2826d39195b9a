#include <algorithm>

#include <fmt/format.h>

#include "config/layer_pattern.h"
#include "config/rules/constraint.h"
#include "config/rules/rule_parts.h"

// Rules of recurrent mixers: the heads and groups of Mamba layers and of delta nets.

namespace mpitron::config {
namespace {

using Result = std::optional<Violation>;

/// Refuses options that are given, not those that have a default, for a model without letters.
Result mamba_options(const Facts& f) {
  if (f.run.model.family().by_letters) {
    return {};
  }
  for (const char* name :
       {"hybrid_layer_pattern", "hybrid_override_pattern", "hybrid_attention_ratio",
        "hybrid_mlp_ratio", "is_hybrid_model", "mamba_state_dim", "mamba_head_dim",
        "mamba_num_groups", "mamba_num_heads"}) {
    if (f.values.given(name)) {
      return Violation{fmt::format("{} with --model {}", name, f.values.text("model")),
                       "pretrain-mamba"};
    }
  }
  return {};
}

/// Ranks that share the heads of a recurrent mixer: tensor ranks always, context ranks inside it.
struct SharingRanks {
  Index tensor, context;
};

SharingRanks sharing_ranks(const Facts& f) {
  return {std::max<Index>(f.run.parallel.tensor_model_parallel_size, 1),
          std::max<Index>(f.run.parallel.context_parallel_size, 1)};
}

/// Returns whether groups of a tensor rank, or their neighbours, can have whole context ranks.
bool groups_share_context(Index groups, Index context) {
  return groups < context ? context % groups == 0 : groups % context == 0;
}

/// Checks sizes first, since divisions by them follow; tells heads over tensor ranks before those
/// over context ranks.
Result mamba_heads(const Facts& f) {
  if (!has_mixer(f.run.model, MixerKind::state_space)) {
    return {};
  }
  const MambaConfig& m = f.run.model.hybrid.mamba;
  const SharingRanks ranks = sharing_ranks(f);
  if (m.head_dim < 1 || m.groups < 1 || m.state_dim < 1 || m.heads < 1) {
    return Violation{fmt::format("{} heads of {}, {} groups, states of {}", m.heads, m.head_dim,
                                 m.groups, m.state_dim),
                     "--mamba-head-dim 64 --mamba-num-groups 8 --mamba-state-dim 128"};
  }
  std::vector<std::string> bad, nearest;
  if (!f.values.has("mamba_num_heads") && 2 * f.run.model.hidden_size % m.head_dim != 0) {
    bad.push_back(fmt::format("2 * {} % {} != 0", f.run.model.hidden_size, m.head_dim));
    nearest.emplace_back("--mamba-num-heads");
  }
  if (m.heads % m.groups != 0 || m.groups % ranks.tensor != 0) {
    bad.push_back(
        fmt::format("{} heads, {} groups, {} tensor ranks", m.heads, m.groups, ranks.tensor));
    nearest.push_back(fmt::format("--mamba-num-groups {}", ranks.tensor));
  } else if (m.heads % (ranks.tensor * ranks.context) != 0 ||
             !groups_share_context(m.groups / ranks.tensor, ranks.context)) {
    bad.push_back(fmt::format("{} heads, {} groups, {} tensor and {} context ranks", m.heads,
                              m.groups, ranks.tensor, ranks.context));
    nearest.push_back(
        nearest_divisors("context-parallel-size", m.heads / ranks.tensor, ranks.context));
  }
  return joined(bad, nearest);
}

Result delta_heads(const Facts& f) {
  if (!has_mixer(f.run.model, MixerKind::delta_net)) {
    return {};
  }
  const DeltaNetConfig& d = f.run.model.hybrid.delta_net;
  const SharingRanks ranks = sharing_ranks(f);
  const bool sizes =
      d.conv_width > 0 && d.key_dim > 0 && d.value_dim > 0 && d.key_heads > 0 && d.value_heads > 0;
  std::vector<std::string> bad, nearest;
  if (f.run.model.activation != ActivationKind::silu) {
    bad.emplace_back("the activation is not SiLU");
    nearest.emplace_back("--swiglu");
  }
  if (!sizes || d.value_heads % d.key_heads != 0 ||
      d.key_heads % (ranks.tensor * ranks.context) != 0) {
    bad.push_back(fmt::format("{} value heads, {} key heads, {} tensor and {} context ranks",
                              d.value_heads, d.key_heads, ranks.tensor, ranks.context));
    nearest.emplace_back("--linear-num-key-heads 16 --linear-num-value-heads 32");
  }
  return joined(bad, nearest);
}

/// Requires the frequency, as the reference does; 1 would make every layer full attention.
Result delta_layers_somewhere(const Facts& f) {
  const std::string variant = f.values.maybe_text("experimental_attention_variant").value_or("");
  const bool has = has_mixer(f.run.model, MixerKind::delta_net);
  return variant == "gated_delta_net" && !f.run.model.family().by_letters && !has
             ? Violation{f.values.given("linear_attention_freq") ? "no layer has a delta net"
                                                                 : "no --linear-attention-freq",
                         "--linear-attention-freq 4"}
             : Result();
}

constexpr std::array kRecurrentRules = std::to_array<Constraint>({
    {"E250", "mamba_options", "options of Mamba and of patterns need --model mamba",
     "model hybrid-layer-pattern hybrid-override-pattern hybrid-attention-ratio "
     "hybrid-mlp-ratio is-hybrid-model mamba-state-dim mamba-head-dim mamba-num-groups "
     "mamba-num-heads",
     "A GPT has transformer layers only.", mamba_options},
    {"E253", "mamba_heads",
     "mamba heads % (groups, tensor ranks * context ranks) = 0, groups % tensor ranks = 0, 2 h % "
     "head size = 0",
     "mamba-num-heads mamba-num-groups mamba-head-dim mamba-state-dim "
     "tensor-model-parallel-size context-parallel-size hidden-size",
     "A group's heads share B and C, and lie on one tensor rank; context ranks share out its "
     "heads, or groups, and look at whole sequences.",
     mamba_heads},
    {"E254", "delta_heads",
     "linear value heads % key heads = 0, key heads % (tensor * context ranks) = 0, sizes above "
     "0, SiLU",
     "linear-num-value-heads linear-num-key-heads linear-key-head-dim linear-value-head-dim "
     "linear-conv-kernel-dim tensor-model-parallel-size context-parallel-size",
     "A key head serves the same number of value heads, all on one rank, which looks at whole "
     "sequences; the convolution has the model's activation.",
     delta_heads},
    {"E259", "delta_layers",
     "--experimental-attention-variant gated_delta_net needs --linear-attention-freq",
     "experimental-attention-variant linear-attention-freq",
     "It says which layers have a delta net: all but every n-th, or those of a list.",
     delta_layers_somewhere},
});

}  // namespace

std::span<const Constraint> recurrent_constraints() {
  return kRecurrentRules;
}

}  // namespace mpitron::config

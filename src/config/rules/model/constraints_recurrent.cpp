#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "config/layer_pattern.h"
#include "config/rules/constraint.h"
#include "config/rules/rule_parts.h"

// Rules of recurrent mixers: the heads and groups of Mamba layers and of delta nets.

namespace mpitron::config {
namespace {

using Result = std::optional<Violation>;

/// The reference's name of Mamba's layers as --spec has it.
bool asks_for_mamba(const std::vector<std::string>& spec) {
  return std::ranges::any_of(
      spec, [](const std::string& word) { return word.find("mamba") != std::string::npos; });
}

/// Refuses options that are given, not those that have a default, for a model without letters.
Result mamba_options(const Facts& f) {
  if (f.run.model.family().by_letters) {
    return {};
  }
  std::string given = given_among(
      f.values, {"hybrid_layer_pattern", "hybrid_override_pattern", "hybrid_attention_ratio",
                 "hybrid_mlp_ratio", "is_hybrid_model", "mamba_state_dim", "mamba_head_dim",
                 "mamba_num_groups", "mamba_num_heads"});
  if (asks_for_mamba(f.values.words("spec"))) {
    given += given.empty() ? "--spec" : ", --spec";
  }
  return given.empty() ? Result()
                       : Violation{fmt::format("{} with --model {}", given, f.values.text("model")),
                                   "pretrain-mamba"};
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

/// Collects what is wrong with one rule's sizes, and what would be right.
struct Mistakes {
  std::vector<std::string> bad, nearest;
  void add(std::string what, std::string right) {
    bad.push_back(std::move(what));
    if (!right.empty()) {
      nearest.push_back(std::move(right));
    }
  }
};

/// Heads of a group lie on one tensor rank, and context ranks share out its heads.
void mamba_ranks(const MambaConfig& m, const SharingRanks& ranks, Mistakes& mistakes) {
  if (m.heads % ranks.tensor != 0) {
    mistakes.add(fmt::format("{} heads, {} tensor ranks", m.heads, ranks.tensor),
                 nearest_divisors("tensor-model-parallel-size", m.heads, ranks.tensor));
  } else if (m.heads % m.groups != 0 || m.groups % ranks.tensor != 0) {
    mistakes.add(
        fmt::format("{} heads, {} groups, {} tensor ranks", m.heads, m.groups, ranks.tensor),
        nearest_legal("mamba-num-groups", m.groups, [&](Index groups) {
          return groups <= m.heads && m.heads % groups == 0 && groups % ranks.tensor == 0;
        }));
  } else {
    const auto share = [&](Index context) {
      return m.heads % (ranks.tensor * context) == 0 &&
             groups_share_context(m.groups / ranks.tensor, context);
    };
    if (!share(ranks.context)) {
      mistakes.add(fmt::format("{} heads, {} groups, {} tensor and {} context ranks", m.heads,
                               m.groups, ranks.tensor, ranks.context),
                   nearest_legal("context-parallel-size", ranks.context, share));
    }
  }
}

/// Checks sizes first, since divisions by them follow.
Result mamba_heads(const Facts& f) {
  if (!has_mixer(f.run.model, MixerKind::state_space)) {
    return {};
  }
  const MambaConfig& m = f.run.model.hybrid.mamba;
  Mistakes mistakes;
  const bool counted = !f.values.has("mamba_num_heads");
  if (m.head_dim < 1 || m.groups < 1 || m.state_dim < 1 || (m.heads < 1 && !counted)) {
    return Violation{fmt::format("{} heads of {}, {} groups, states of {}", m.heads, m.head_dim,
                                 m.groups, m.state_dim),
                     "--mamba-head-dim 64 --mamba-num-groups 8 --mamba-state-dim 128"};
  }
  const Index width = 2 * f.run.model.hidden_size;
  if (counted && width % m.head_dim != 0) {
    mistakes.add(fmt::format("2 * {} % {} != 0", f.run.model.hidden_size, m.head_dim),
                 nearest_divisors("mamba-head-dim", width, m.head_dim));
  }
  if (m.heads > 0 && mistakes.bad.empty()) {
    mamba_ranks(m, sharing_ranks(f), mistakes);
  }
  return joined(mistakes.bad, mistakes.nearest);
}

/// Returns the sizes of delta nets that are below 1.
std::string empty_sizes(const DeltaNetConfig& d) {
  std::vector<std::string> empty;
  for (const auto& [name, size] : {std::pair("linear-conv-kernel-dim", d.conv_width),
                                   std::pair("linear-key-head-dim", d.key_dim),
                                   std::pair("linear-value-head-dim", d.value_dim),
                                   std::pair("linear-num-key-heads", d.key_heads),
                                   std::pair("linear-num-value-heads", d.value_heads)}) {
    if (size < 1) {
      empty.push_back(fmt::format("--{} {}", name, size));
    }
  }
  return fmt::format("{}", fmt::join(empty, ", "));
}

/// Without sizes there is nothing to divide.
void delta_ranks(const DeltaNetConfig& d, const SharingRanks& ranks, Mistakes& mistakes) {
  const Index sharing = ranks.tensor * ranks.context;
  if (d.value_heads % d.key_heads == 0 && d.key_heads % sharing == 0) {
    return;
  }
  const std::string keys = nearest_legal("linear-num-key-heads", d.key_heads, [&](Index heads) {
    return heads <= d.value_heads && d.value_heads % heads == 0 && heads % sharing == 0;
  });
  mistakes.add(fmt::format("{} value heads, {} key heads, {} tensor and {} context ranks",
                           d.value_heads, d.key_heads, ranks.tensor, ranks.context),
               keys.empty()
                   ? fmt::format("--linear-num-key-heads {0} --linear-num-value-heads {0}", sharing)
                   : keys);
}

Result delta_heads(const Facts& f) {
  if (!has_mixer(f.run.model, MixerKind::delta_net)) {
    return {};
  }
  const DeltaNetConfig& d = f.run.model.hybrid.delta_net;
  Mistakes mistakes;
  if (f.run.model.activation != ActivationKind::silu) {
    mistakes.add("the activation is not SiLU", "--swiglu");
  }
  if (const std::string empty = empty_sizes(d); !empty.empty()) {
    mistakes.add(empty, "sizes of at least 1");
  } else {
    delta_ranks(d, sharing_ranks(f), mistakes);
  }
  return joined(mistakes.bad, mistakes.nearest);
}

/// Requires the frequency, as the reference does; 1 would make every layer full attention. Letters
/// say by themselves which layers are delta nets.
Result delta_layers_somewhere(const Facts& f) {
  const std::string variant = f.values.maybe_text("experimental_attention_variant").value_or("");
  const bool frequency = f.values.given("linear_attention_freq");
  if (f.run.model.family().by_letters) {
    return !variant.empty() || frequency
               ? Result(
                     Violation{"a model of letters", variant == "dsa" ? "letters D" : "letters G"})
               : Result();
  }
  const auto& marks = f.run.model.hybrid.delta_layers;
  const auto named = static_cast<Index>(marks.size());
  if (variant != "gated_delta_net") {
    return frequency ? Result(Violation{"no delta nets",
                                        "--experimental-attention-variant gated_delta_net"})
                     : Result();
  }
  if (!f.run.model.family().decoder_only) {
    return Violation{"an encoder, which sees what follows", "a GPT"};
  }
  if (named != 0 && named != f.run.model.num_layers) {
    return Violation{fmt::format("{} entries, {} layers", named, f.run.model.num_layers),
                     fmt::format("--num-layers {}", named)};
  }
  return std::ranges::count(marks, true) == 0
             ? Violation{frequency ? "no layer has a delta net" : "no --linear-attention-freq",
                         "--linear-attention-freq 4"}
             : Result();
}

constexpr std::array kRecurrentRules = std::to_array<Constraint>({
    {"E250", "mamba_options", "options of Mamba and of patterns need --model mamba",
     "model hybrid-layer-pattern hybrid-override-pattern hybrid-attention-ratio "
     "hybrid-mlp-ratio is-hybrid-model mamba-state-dim mamba-head-dim mamba-num-groups "
     "mamba-num-heads spec",
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
     "--experimental-attention-variant gated_delta_net and --linear-attention-freq need each "
     "other; "
     "a list names every layer",
     "experimental-attention-variant linear-attention-freq num-layers",
     "The frequency says which layers of a GPT have a delta net: all but every n-th, or those of a "
     "list.",
     delta_layers_somewhere},
});

}  // namespace

std::span<const Constraint> recurrent_constraints() {
  return kRecurrentRules;
}

}  // namespace mpitron::config

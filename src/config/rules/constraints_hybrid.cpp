#include <algorithm>

#include <fmt/format.h>

#include "config/layer_pattern.h"
#include "config/rules/constraint.h"

// Rules of models whose layers are letters, and of delta nets.

namespace mpitron::config {
namespace {

using Result = std::optional<Violation>;

/// The layers of a model that has others than those of a transformer; else empty.
std::vector<LayerSpec> layers_by_kind(const Facts& f) {
  const HybridConfig& hybrid = f.run.model.hybrid;
  const bool others = !hybrid.pattern.empty() || !hybrid.delta_layers.empty();
  return others ? layer_pattern(f.run.model) : std::vector<LayerSpec>();
}

bool has_mixer(const Facts& f, MixerKind kind) {
  return std::ranges::count(layers_by_kind(f), kind, &LayerSpec::mixer) > 0;
}

bool has_expert_letters(const Facts& f) {
  return std::ranges::count(layers_by_kind(f), FeedForwardKind::experts, &LayerSpec::feed_forward) >
         0;
}

/// The first mixer that needs its whole sequence on one rank; null if there is none.
const char* whole_sequence_mixer(const Facts& f) {
  for (const LayerSpec& layer : layers_by_kind(f)) {
    if (!facts(layer.mixer).cuts_sequence) {
      return facts(layer.mixer).name;
    }
  }
  return nullptr;
}

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

Result known_letters(const Facts& f) {
  const std::string& pattern = f.run.model.hybrid.pattern;
  const std::size_t unknown = pattern.find_first_not_of(pattern_letters());
  if (unknown != std::string::npos) {
    return Violation{
        fmt::format("'{}' at place {} of '{}'", pattern[unknown], unknown + 1, pattern),
        fmt::format("one of {}", pattern_letters())};
  }
  const auto letters = static_cast<Index>(pattern.size());
  return letters == 0 || letters == f.run.model.num_layers
             ? Result()
             : Violation{fmt::format("{} letters, {} layers", letters, f.run.model.num_layers),
                         fmt::format("--num-layers {}", letters)};
}

Result pattern_counts(const Facts& f) {
  const auto given = f.values.maybe_text("hybrid_override_pattern");
  if (given && f.values.given("hybrid_layer_pattern")) {
    return Violation{"two patterns", "--hybrid-layer-pattern alone"};
  }
  const double attention = f.values.real("hybrid_attention_ratio");
  const double mlps = f.values.real("hybrid_mlp_ratio");
  if (attention < 0 || mlps < 0 || attention + mlps > 1) {
    return Violation{fmt::format("ratios {} and {}", attention, mlps),
                     "--hybrid-attention-ratio 0.1 --hybrid-mlp-ratio 0.4"};
  }
  if (!given || (attention == 0 && mlps == 0)) {
    return {};
  }
  const std::string wanted = pattern_of_ratios(f.run.model.num_layers, attention, mlps);
  for (const char letter : std::string("M*-")) {
    if (count_letter(*given, letter) != count_letter(wanted, letter)) {
      return Violation{fmt::format("{} of '{}', by the ratios {}", count_letter(*given, letter),
                                   letter, count_letter(wanted, letter)),
                       "no ratios"};
    }
  }
  return {};
}

Result mamba_heads(const Facts& f) {
  if (!has_mixer(f, MixerKind::state_space)) {
    return {};
  }
  const MambaConfig& m = f.run.model.hybrid.mamba;
  const Index ranks = std::max<Index>(f.run.parallel.tensor_model_parallel_size, 1);
  if (m.head_dim < 1 || m.groups < 1 || m.state_dim < 1 || m.heads < 1) {
    return Violation{fmt::format("{} heads of {}, {} groups, states of {}", m.heads, m.head_dim,
                                 m.groups, m.state_dim),
                     "--mamba-head-dim 64 --mamba-num-groups 8 --mamba-state-dim 128"};
  }
  if (!f.values.has("mamba_num_heads") && 2 * f.run.model.hidden_size % m.head_dim != 0) {
    return Violation{fmt::format("2 * {} % {} != 0", f.run.model.hidden_size, m.head_dim),
                     "--mamba-num-heads"};
  }
  return m.heads % m.groups == 0 && m.groups % ranks == 0
             ? Result()
             : Violation{
                   fmt::format("{} heads, {} groups, {} tensor ranks", m.heads, m.groups, ranks),
                   fmt::format("--mamba-num-groups {}", ranks)};
}

Result delta_heads(const Facts& f) {
  if (!has_mixer(f, MixerKind::delta_net)) {
    return {};
  }
  const DeltaNetConfig& d = f.run.model.hybrid.delta_net;
  if (f.run.model.activation != ActivationKind::silu) {
    return Violation{"the activation is not SiLU", "--swiglu"};
  }
  const Index ranks = std::max<Index>(f.run.parallel.tensor_model_parallel_size, 1);
  const bool sizes =
      d.conv_width > 0 && d.key_dim > 0 && d.value_dim > 0 && d.key_heads > 0 && d.value_heads > 0;
  return sizes && d.value_heads % d.key_heads == 0 && d.key_heads % ranks == 0
             ? Result()
             : Violation{fmt::format("{} value heads, {} key heads, {} tensor ranks", d.value_heads,
                                     d.key_heads, ranks),
                         "--linear-num-key-heads 16 --linear-num-value-heads 32"};
}

Result hybrid_company(const Facts& f) {
  const ModelConfig& m = f.run.model;
  const char* whole = whole_sequence_mixer(f);
  if (whole != nullptr && f.run.parallel.context_parallel_size > 1) {
    return Violation{
        fmt::format("{} context ranks, a {} layer", f.run.parallel.context_parallel_size, whole),
        "--tensor-model-parallel-size"};
  }
  if (m.hybrid.pattern.empty()) {
    return {};
  }
  if (m.multi_latent_attention || m.mtp_num_layers.value_or(0) > 0) {
    return Violation{m.multi_latent_attention ? "--multi-latent-attention" : "--mtp-num-layers",
                     "neither"};
  }
  return has_expert_letters(f) != m.moe.has_value()
             ? Result(Violation{
                   m.moe ? "--num-experts without a letter E" : "a letter E without --num-experts",
                   "--num-experts 8 and letters E"})
             : Result();
}

}  // namespace

std::span<const Constraint> hybrid_constraints() {
  static constexpr std::array kRules = std::to_array<Constraint>({
      {"E250", "mamba_options", "options of Mamba and of patterns need --model mamba",
       "model hybrid-layer-pattern hybrid-override-pattern hybrid-attention-ratio "
       "hybrid-mlp-ratio is-hybrid-model mamba-state-dim mamba-head-dim mamba-num-groups "
       "mamba-num-heads",
       "A GPT has transformer layers only.", mamba_options},
      {"E251", "pattern_letters", "a pattern has one known letter for each layer",
       "hybrid-layer-pattern hybrid-override-pattern num-layers",
       "M is a Mamba mixer, * attention, - an MLP, E experts, G a delta net. Bars between stages, "
       "prediction depths and other letters of the reference are not there yet.",
       known_letters},
      {"E252", "pattern_counts", "one pattern, with as many of each letter as the ratios ask for",
       "hybrid-override-pattern hybrid-layer-pattern hybrid-attention-ratio hybrid-mlp-ratio",
       "Both say what the layers are.", pattern_counts},
      {"E253", "mamba_heads",
       "mamba heads % groups = 0, groups % tensor ranks = 0, 2 h % head size = 0",
       "mamba-num-heads mamba-num-groups mamba-head-dim mamba-state-dim "
       "tensor-model-parallel-size hidden-size",
       "A group's heads share B and C, and lie on one rank.", mamba_heads},
      {"E254", "delta_heads",
       "linear value heads % key heads = 0, key heads % tensor ranks = 0, sizes above 0, SiLU",
       "linear-num-value-heads linear-num-key-heads linear-key-head-dim linear-value-head-dim "
       "linear-conv-kernel-dim tensor-model-parallel-size",
       "A key head serves the same number of value heads, all on one rank; the convolution has the "
       "model's activation.",
       delta_heads},
      {"E255", "hybrid_company",
       "mixers exclude context parallelism; letters exclude latent attention and MTP, and E needs "
       "--num-experts",
       "context-parallel-size multi-latent-attention mtp-num-layers num-experts "
       "hybrid-layer-pattern",
       "A mixer's state would have to travel from rank to rank, which is not there yet.",
       hybrid_company},
  });
  return kRules;
}

}  // namespace mpitron::config

#include <algorithm>

#include <fmt/ranges.h>

#include "config/layer_pattern.h"
#include "config/rules/constraint.h"

// Rules of models whose layers are letters, and of delta nets: patterns, heads over ranks, segments
// and depths.

namespace mpitron::config {
namespace {

using Result = std::optional<Violation>;

bool has_expert_letters(const Facts& f) {
  const HybridConfig& hybrid = f.run.model.hybrid;
  return count_letter(hybrid.pattern + hybrid.depth_pattern, 'E') > 0;
}

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

/// Returns the pattern as given; an empty text where the ratios make it.
std::string given_text(const Facts& f) {
  return f.values.maybe_text("hybrid_layer_pattern")
      .value_or(f.values.maybe_text("hybrid_override_pattern").value_or(""));
}

/// Makes one violation of all that is broken of one rule.
Result joined(const std::vector<std::string>& bad, const std::vector<std::string>& nearest) {
  return bad.empty() ? Result()
                     : Violation{fmt::format("{}", fmt::join(bad, "; ")),
                                 fmt::format("{}", fmt::join(nearest, " | "))};
}

/// Lists the characters of a pattern that are no letters, with their places; bars belong in front
/// of the depths.
std::vector<std::string> unknown_letters(const std::string& text) {
  const std::size_t depths = text.find('/');
  std::vector<std::string> unknown;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const bool cut = text[at] == '/' || (text[at] == '|' && at < depths);
    if (!cut && pattern_letters().find(text[at]) == std::string::npos) {
      unknown.push_back(fmt::format("'{}' at place {}", text[at], at + 1));
    }
  }
  return unknown;
}

/// Tells unknown characters and a wrong count of letters in one violation.
Result known_letters(const Facts& f) {
  const std::string text = given_text(f);
  std::vector<std::string> bad = unknown_letters(text), nearest;
  if (!bad.empty()) {
    nearest.push_back(fmt::format("one of {}, bars in front of the first /", pattern_letters()));
  }
  const auto letters = static_cast<Index>(f.run.model.hybrid.pattern.size());
  if (letters != 0 && letters != f.run.model.num_layers) {
    bad.push_back(fmt::format("{} letters, {} layers", letters, f.run.model.num_layers));
    nearest.push_back(fmt::format("--num-layers {}", letters));
  }
  return joined(bad, nearest);
}

/// Compares a pattern with the ratios by counts of letters; the order is the pattern's.
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
    const Index count = count_letter(f.run.model.hybrid.pattern, letter);
    if (count != count_letter(wanted, letter)) {
      return Violation{
          fmt::format("{} of '{}', by the ratios {}", count, letter, count_letter(wanted, letter)),
          "no ratios"};
    }
  }
  return {};
}

/// Checks the letters of the depths of prediction together with those of the layers.
Result one_attention(const Facts& f) {
  const HybridConfig& hybrid = f.run.model.hybrid;
  const std::string letters = hybrid.pattern + hybrid.depth_pattern;
  const bool plain = count_letter(letters, '*') > 0, latent = count_letter(letters, '+') > 0;
  if (plain && latent) {
    return Violation{"letters * and +", "one of them"};
  }
  const bool asked = f.run.model.multi_latent_attention;
  return !letters.empty() && ((plain && asked) || (latent && !asked))
             ? Result(Violation{asked ? "a letter * with --multi-latent-attention"
                                      : "a letter + without --multi-latent-attention",
                                asked ? "+ instead of *" : "--multi-latent-attention"})
             : Result();
}

/// Bars are a split of the pipeline, and exclude every other option that is one.
Result pattern_segments(const Facts& f) {
  const ParallelConfig& p = f.run.parallel;
  const auto segments = static_cast<Index>(p.pattern_segments.size());
  if (segments == 0) {
    return {};
  }
  for (const char* name :
       {"decoder_first_pipeline_num_layers", "decoder_last_pipeline_num_layers",
        "pipeline_model_parallel_layout", "num_layers_per_virtual_pipeline_stage",
        "num_virtual_stages_per_pipeline_rank", "account_for_embedding_in_pipeline_split",
        "account_for_loss_in_pipeline_split"}) {
    if (f.values.given(name)) {
      return Violation{fmt::format("bars and {}", name), "bars alone"};
    }
  }
  return divides(
      segments, p.pipeline_model_parallel_size,
      nearest_divisors("pipeline-model-parallel-size", segments, p.pipeline_model_parallel_size));
}

/// The model keeps one pattern for all depths.
Result pattern_depths(const Facts& f) {
  const std::vector<std::string> depths = read_pattern(given_text(f)).depths;
  for (const std::string& depth : depths) {
    if (depth.empty() || depth != depths.front()) {
      return Violation{fmt::format("depths '{}' and '{}'", depths.front(), depth),
                       "the same letters in each depth"};
    }
  }
  const Index asked = f.run.model.mtp_num_layers.value_or(0);
  return f.run.model.hybrid.pattern.empty() || asked == static_cast<Index>(depths.size())
             ? Result()
             : Violation{fmt::format("{} depths, --mtp-num-layers {}", depths.size(), asked),
                         "--hybrid-layer-pattern with a / in front of each depth"};
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

Result letters_of_experts(const Facts& f) {
  const ModelConfig& m = f.run.model;
  return !m.hybrid.pattern.empty() && has_expert_letters(f) != m.moe.has_value()
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
       "M is a Mamba mixer, * attention, + latent attention, - an MLP, E experts, G a delta net; a "
       "bar ends a pipeline segment, a slash begins a depth of prediction. D, the reference's "
       "sparse "
       "attention, is not there yet.",
       known_letters},
      {"E252", "pattern_counts", "one pattern, with as many of each letter as the ratios ask for",
       "hybrid-override-pattern hybrid-layer-pattern hybrid-attention-ratio hybrid-mlp-ratio",
       "Both say what the layers are.", pattern_counts},
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
      {"E255", "letters_of_experts", "a letter E needs --num-experts, and experts a letter E",
       "num-experts hybrid-layer-pattern hybrid-override-pattern", "E is a layer of experts.",
       letters_of_experts},
      {"E256", "one_attention", "a pattern has * or +, and + is --multi-latent-attention",
       "hybrid-layer-pattern hybrid-override-pattern multi-latent-attention",
       "Sizes of heads are those of one kind of attention.", one_attention},
      {"E257", "pattern_segments",
       "segments of a pattern % pipeline stages = 0, without another split",
       "hybrid-layer-pattern hybrid-override-pattern pipeline-model-parallel-size "
       "num-layers-per-virtual-pipeline-stage num-virtual-stages-per-pipeline-rank "
       "pipeline-model-parallel-layout decoder-first-pipeline-num-layers "
       "decoder-last-pipeline-num-layers account-for-embedding-in-pipeline-split "
       "account-for-loss-in-pipeline-split",
       "Each segment is a virtual stage; the stages take turns. One stage takes all.",
       pattern_segments},
      {"E258", "pattern_depths", "depths of prediction behind a pattern are all alike",
       "hybrid-layer-pattern hybrid-override-pattern mtp-num-layers",
       "A slash begins a depth; what stands behind it are its layers.", pattern_depths},
      {"E259", "delta_layers",
       "--experimental-attention-variant gated_delta_net needs --linear-attention-freq",
       "experimental-attention-variant linear-attention-freq",
       "It says which layers have a delta net: all but every n-th, or those of a list.",
       delta_layers_somewhere},
  });
  return kRules;
}

}  // namespace mpitron::config

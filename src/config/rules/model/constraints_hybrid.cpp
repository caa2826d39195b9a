#include <fmt/ranges.h>

#include "config/layer_pattern.h"
#include "config/rules/rule_parts.h"

// Rules of models whose layers are letters: patterns, segments and depths.

namespace mpitron::config {
namespace {

using Result = std::optional<Violation>;

bool has_expert_letters(const Facts& f) {
  const HybridConfig& hybrid = f.run.model.hybrid;
  return count_letter(hybrid.pattern + hybrid.depth_pattern, 'E') > 0;
}

/// The option that gives the pattern, and its text; both empty where the ratios make it.
struct GivenPattern {
  std::string option = {}, text = {};
};

GivenPattern given_pattern_of(const Facts& f) {
  for (const auto& [dest, option] :
       {std::pair("hybrid_layer_pattern", "--hybrid-layer-pattern"),
        std::pair("hybrid_override_pattern", "--hybrid-override-pattern")}) {
    if (const auto text = f.values.maybe_text(dest)) {
      return {option, *text};
    }
  }
  return {};
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

/// Tells unknown characters, a wrong count of letters and a pattern without any in one violation.
Result known_letters(const Facts& f) {
  const GivenPattern given = given_pattern_of(f);
  if (!f.run.model.family().by_letters || given.option.empty()) {
    return {};
  }
  std::vector<std::string> bad = unknown_letters(given.text), nearest;
  if (!bad.empty()) {
    nearest.push_back(
        fmt::format("letters of {}, bars in front of the first /", pattern_letters()));
  }
  const auto letters = static_cast<Index>(f.run.model.hybrid.pattern.size());
  if (letters == 0) {
    bad.emplace_back("no letters");
    nearest.push_back(fmt::format("{} M*-", given.option));
  } else if (letters != f.run.model.num_layers) {
    bad.push_back(fmt::format("{} letters, {} layers", letters, f.run.model.num_layers));
    nearest.push_back(fmt::format("--num-layers {}", letters));
  }
  return joined(bad.empty() ? bad
                            : std::vector{fmt::format("{} {}: {}", given.option, given.text,
                                                      fmt::join(bad, "; "))},
                nearest);
}

/// Lists letters whose numbers are not those of the ratios; the order is the pattern's.
std::vector<std::string> other_counts(const Facts& f, double attention, double mlps) {
  const std::string wanted = pattern_of_ratios(f.run.model.num_layers, attention, mlps);
  std::vector<std::string> other;
  for (const char letter : std::string("M*-")) {
    const Index count = count_letter(f.run.model.hybrid.pattern, letter);
    const Index by_ratios = count_letter(wanted, letter);
    if (count != by_ratios) {
      other.push_back(fmt::format("{} of '{}', by the ratios {}", count, letter, by_ratios));
    }
  }
  return other;
}

Result pattern_counts(const Facts& f) {
  std::vector<std::string> bad, nearest;
  if (f.values.has("hybrid_layer_pattern") && f.values.has("hybrid_override_pattern")) {
    bad.emplace_back("two patterns (--hybrid-layer-pattern, --hybrid-override-pattern)");
    nearest.emplace_back("--hybrid-layer-pattern alone");
  }
  const double attention = f.values.real("hybrid_attention_ratio");
  const double mlps = f.values.real("hybrid_mlp_ratio");
  if (attention < 0 || mlps < 0 || attention + mlps > 1) {
    bad.push_back(fmt::format("ratios {} and {}", attention, mlps));
    nearest.emplace_back("--hybrid-attention-ratio 0.1 --hybrid-mlp-ratio 0.4");
  } else if ((attention > 0 || mlps > 0) && !f.run.model.hybrid.pattern.empty() &&
             !given_pattern_of(f).option.empty()) {
    const std::vector<std::string> other = other_counts(f, attention, mlps);
    bad.insert(bad.end(), other.begin(), other.end());
    if (!other.empty()) {
      nearest.emplace_back("no ratios");
    }
  }
  return joined(bad, nearest);
}

/// Checks the letters of the depths of prediction together with those of the layers.
Result one_attention(const Facts& f) {
  const HybridConfig& hybrid = f.run.model.hybrid;
  const std::string letters = hybrid.pattern + hybrid.depth_pattern;
  const bool plain = count_letter(letters, '*') > 0, sparse = count_letter(letters, 'D') > 0;
  const char latent = sparse ? 'D' : count_letter(letters, '+') > 0 ? '+' : 0;
  if (plain && latent != 0) {
    return Violation{fmt::format("letters * and {}", latent), "one of them"};
  }
  const bool asked = f.run.model.multi_latent_attention;
  if (plain && asked) {
    return Violation{"a letter * with --multi-latent-attention", "+ instead of *"};
  }
  return latent != 0 && !asked
             ? Result(Violation{fmt::format("a letter {} without --multi-latent-attention", latent),
                                "--multi-latent-attention"})
             : Result();
}

/// Bars are a split of the pipeline, and exclude every other option that is one.
Result pattern_segments(const Facts& f) {
  const ParallelConfig& p = f.run.parallel;
  const auto segments = static_cast<Index>(p.pattern_segments.size());
  if (segments == 0) {
    return {};
  }
  std::vector<std::string> bad, nearest;
  const std::string others = given_among(
      f.values, {"decoder_first_pipeline_num_layers", "decoder_last_pipeline_num_layers",
                 "pipeline_model_parallel_layout", "num_layers_per_virtual_pipeline_stage",
                 "num_virtual_stages_per_pipeline_rank", "account_for_embedding_in_pipeline_split",
                 "account_for_loss_in_pipeline_split"});
  if (!others.empty()) {
    bad.push_back("bars and " + others);
    nearest.emplace_back("bars alone");
  }
  const Index stages = p.pipeline_model_parallel_size;
  if (const Result cut = divides(segments, stages, "")) {
    bad.push_back(cut->values);
    nearest.push_back(nearest_divisors("pipeline-model-parallel-size", segments, stages));
  }
  return joined(bad, nearest);
}

/// The model keeps one pattern for all depths.
Result pattern_depths(const Facts& f) {
  const std::vector<std::string> depths = read_pattern(given_pattern_of(f).text).depths;
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

Result letters_of_experts(const Facts& f) {
  const ModelConfig& m = f.run.model;
  return !m.hybrid.pattern.empty() && has_expert_letters(f) != m.moe.has_value()
             ? Result(Violation{
                   m.moe ? "--num-experts without a letter E" : "a letter E without --num-experts",
                   "--num-experts 8 and letters E"})
             : Result();
}

constexpr std::array kHybridRules = std::to_array<Constraint>({
    {"E251", "pattern_letters", "a pattern has one known letter for each layer",
     "hybrid-layer-pattern hybrid-override-pattern num-layers",
     "M is a Mamba mixer, * attention, + latent attention, D sparse attention, - an MLP, E "
     "experts, G a delta net; a bar ends a pipeline segment, a slash begins a depth of prediction.",
     known_letters},
    {"E252", "pattern_counts", "one pattern, with as many of each letter as the ratios ask for",
     "hybrid-override-pattern hybrid-layer-pattern hybrid-attention-ratio hybrid-mlp-ratio",
     "Both say what the layers are.", pattern_counts},
    {"E255", "letters_of_experts", "a letter E needs --num-experts, and experts a letter E",
     "num-experts hybrid-layer-pattern hybrid-override-pattern", "E is a layer of experts.",
     letters_of_experts},
    {"E256", "one_attention", "a pattern has * or + and D, which are --multi-latent-attention",
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
});

}  // namespace

std::span<const Constraint> hybrid_constraints() {
  return kHybridRules;
}

}  // namespace mpitron::config

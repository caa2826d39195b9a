#include <fmt/format.h>

#include "config/rules/rule_parts.h"
#include "config/values/list_expression.h"

// Rules of options that only later releases of the reference have: windows, gates and muP.

namespace mpitron::config {
namespace {

using Result = std::optional<Violation>;

/// The text is read into numbers already; a missing pair was not readable. Keys behind a query are
/// hidden by the causal order alone.
Result window_pair(const Facts& f) {
  const std::optional<std::string> text = f.values.maybe_text("window_size");
  if (!text && f.values.given("window_attn_skip_freq")) {
    return Violation{"no --window-size", "--window-size 127,0"};
  }
  if (text && !f.run.model.family().decoder_only) {
    return Violation{fmt::format("--window-size {} in an encoder", *text), "no --window-size"};
  }
  const auto& window = f.run.model.window_size;
  const bool sensible = window && (*window)[0] >= -1 && (*window)[1] >= -1;
  return !text || sensible
             ? Result()
             : Violation{fmt::format("--window-size {}", *text), "--window-size 127,0"};
}

/// A list names every layer; a number leaves every n-th layer whole.
Result window_layers(const Facts& f) {
  const std::optional<std::string> text = f.values.maybe_text("window_attn_skip_freq");
  if (!text) {
    return {};
  }
  const Frequency frequency = parse_list_expression(*text);
  const auto named = static_cast<Index>(frequency.entries.size());
  if (frequency.is_list ? named == f.run.model.num_layers : frequency.number > 0) {
    return {};
  }
  return Violation{frequency.is_list
                       ? fmt::format("{} entries, {} layers", named, f.run.model.num_layers)
                       : fmt::format("every {}-th layer", frequency.number),
                   "--window-attn-skip-freq 2"};
}

Result one_gated_activation(const Facts& f) {
  const OptionValues& v = f.values;
  const int later = v.flag("quick_geglu") + v.flag("geglu");
  const bool earlier = v.flag("swiglu") || v.flag("squared_relu") || v.flag("openai_gelu");
  const char* one = v.flag("quick_geglu") ? "--quick-geglu" : "--geglu";
  return later + earlier > 1 && later > 0
             ? Result(Violation{fmt::format("{} and another activation", one), one})
             : Result();
}

/// Clamp and offset act inside the gated product (gpt-oss: a clamp of 7, an offset of 1).
Result gate_limits(const Facts& f) {
  const ModelConfig& m = f.run.model;
  if (!m.gated_linear_unit && (m.activation_clamp || m.glu_linear_offset != 0)) {
    return Violation{"no gated activation", "--quick-geglu, --geglu or --swiglu"};
  }
  return m.activation_clamp && *m.activation_clamp <= 0
             ? Result(Violation{fmt::format("clamp {}", *m.activation_clamp),
                                "--activation-func-clamp-value 7"})
             : Result();
}

Result plain_heads_only(const Facts& f) {
  const ModelConfig& m = f.run.model;
  const bool other = m.multi_latent_attention || !m.family().decoder_only;
  const char* given = m.attention_output_gate                   ? "--attention-output-gate"
                      : m.attention_sink != AttentionSink::none ? "--softmax-type"
                                                                : nullptr;
  return given != nullptr && other
             ? Result(Violation{fmt::format("{} with {}", given,
                                            m.multi_latent_attention ? "--multi-latent-attention"
                                                                     : "an encoder"),
                                "neither"})
             : Result();
}

Result shared_expert_gate(const Facts& f) {
  const ModelConfig& m = f.run.model;
  return f.values.flag("moe_shared_expert_gate") &&
                 (!m.moe || m.moe->shared_expert_intermediate_size == 0)
             ? Result(Violation{"there is no shared expert",
                                "--moe-shared-expert-intermediate-size 2048"})
             : Result();
}

/// Looks at what was given, since factors are derived from it.
Result mup_sizes(const Facts& f) {
  if (!f.run.model.mup) {
    return {};
  }
  std::vector<std::string> bad, nearest;
  const auto above_zero = [&](const char* option, const char* dest, const char* right) {
    const auto value = f.values.maybe_real(dest);
    if (value && *value <= 0) {
      bad.push_back(fmt::format("--{} {}", option, *value));
      nearest.push_back(fmt::format("--{} {}", option, right));
    }
  };
  above_zero("mup-base-hidden-size", "mup_base_hidden_size", "256");
  above_zero("mup-embedding-mult", "mup_embedding_mult", "1");
  above_zero("mup-output-mult", "mup_output_mult", "1");
  above_zero("mup-base-head-dim", "mup_base_head_dim", "64");
  return joined(bad, nearest);
}

constexpr std::array kLaterReleaseRules = std::to_array<Constraint>({
    {"E240", "window_pair", "--window-size is LEFT,RIGHT, each -1 or more, in a decoder",
     "window-size window-attn-skip-freq model",
     "A query sees so many keys before and behind itself; -1 stands for all.", window_pair},
    {"E241", "window_layers",
     "--window-attn-skip-freq is above 0, or a list that names every layer",
     "window-attn-skip-freq num-layers",
     "Every n-th layer is whole; each entry of a list says whether its layer has the window.",
     window_layers},
    {"E242", "one_gated_activation",
     "--quick-geglu and --geglu exclude each other and the earlier ones",
     "quick-geglu geglu swiglu squared-relu openai-gelu", "An MLP has one activation.",
     one_gated_activation},
    {"E243", "gate_limits",
     "--activation-func-clamp-value > 0 and --glu-linear-offset want a gated activation",
     "activation-func-clamp-value glu-linear-offset quick-geglu geglu swiglu",
     "They change the inputs of a gate and of what it lets through.", gate_limits},
    {"E244", "plain_heads_only",
     "--attention-output-gate and --softmax-type are for a GPT's heads of queries and keys",
     "attention-output-gate softmax-type multi-latent-attention model",
     "Latent attention and encoders have neither in the reference.", plain_heads_only},
    {"E245", "shared_expert_gate", "--moe-shared-expert-gate needs a shared expert",
     "moe-shared-expert-gate moe-shared-expert-intermediate-size",
     "The gate weighs what the shared expert gives.", shared_expert_gate},
    {"E246", "mup_sizes", "muP's sizes and factors are above 0",
     "mup-base-hidden-size mup-embedding-mult mup-output-mult mup-base-head-dim",
     "Rates and scales are divided by them.", mup_sizes},
});

}  // namespace

std::span<const Constraint> later_release_constraints() {
  return kLaterReleaseRules;
}

}  // namespace mpitron::config

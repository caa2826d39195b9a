#include <array>
#include <cmath>

#include "config/resolve/resolve.h"
#include "config/values/list_expression.h"

// Fields from options of releases after the one whose parser the other tables follow: windows,
// sinks, Gemma's layers, muP.

namespace mpitron::config {

namespace {

/// Reads "127,0"; a word that is no pair of integers is left for the rules.
std::optional<std::array<Index, 2>> window_size(const OptionValues& v) {
  const std::string text = v.maybe_text("window_size").value_or("");
  const std::size_t comma = text.find(',');
  if (comma == std::string::npos) {
    return {};
  }
  const auto left = read_integer(text.substr(0, comma));
  const auto right = read_integer(text.substr(comma + 1));
  return left && right ? std::optional(std::array{*left, *right}) : std::nullopt;
}

/// Marks the layers whose attention sees a window alone: a list says it for each, a number N leaves
/// every N-th layer whole.
std::vector<bool> window_layers(const OptionValues& v, Index layers) {
  const std::optional<std::string> text = v.maybe_text("window_attn_skip_freq");
  std::vector<bool> result;
  if (!text) {
    return result;
  }
  const Frequency frequency = parse_list_expression(*text);
  for (const Index entry : frequency.entries) {
    result.push_back(entry != 0);
  }
  for (Index layer = 1; !frequency.is_list && frequency.number > 0 && layer <= layers; ++layer) {
    result.push_back(layer % frequency.number != 0);
  }
  return result;
}

/// Sets what Gemma's layers have beside others; a scalar that is not positive is left to the rules.
void resolve_gemma(ModelConfig& m, const OptionValues& v) {
  m.post_self_attn_layernorm = v.flag("post_self_attn_layernorm");
  m.post_mlp_layernorm = v.flag("post_mlp_layernorm");
  m.scale_embeddings = v.flag("scale_embeddings");
  m.qk_l2_norm_with_rope_only = v.flag("qk_l2_norm_with_rope_only");
  m.rope_scaling_high_freq_factor = v.real("rope_scaling_high_freq_factor");
  m.rotary_base_local = v.maybe_integer("rotary_base_local");
  m.attn_logit_softcapping = v.maybe_real("attn_logit_softcapping");
  m.final_logit_softcapping = v.maybe_real("final_logit_softcapping");
  m.query_pre_attn_scalar = v.maybe_real("query_pre_attn_scalar");
  if (m.query_pre_attn_scalar && *m.query_pre_attn_scalar > 0) {
    m.softmax_scale = 1 / std::sqrt(*m.query_pre_attn_scalar);
  }
}

void resolve_llama4(ModelConfig& m, const OptionValues& v) {
  m.attention_chunk_size = v.maybe_integer("attention_chunk_size");
  if (const auto floor = v.maybe_integer("query_scale_floor")) {
    m.query_scale = {.floor = *floor, .growth = v.real("query_scale_growth")};
  }
}

/// Sets muP's factors (Yang et al. 2022, table 8): the width over the base width, and scores
/// divided by a power of the head size, --mup-attn-scale-power, instead of its root.
void resolve_mup(ModelConfig& m, const OptionValues& v) {
  if (!v.flag("use_mup")) {
    return;
  }
  MupConfig mup{.width = mup_width(v),
                .embedding_factor = v.real("mup_embedding_mult"),
                .output_factor = v.real("mup_output_mult")};
  if (mup.output_factor == 1) {
    mup.output_factor = 1 / mup.width;
  }
  m.mup = mup;
  if (m.kv_channels > 0) {
    m.softmax_scale = std::sqrt(v.maybe_real("mup_base_head_dim").value_or(1)) /
                      std::pow(static_cast<double>(m.kv_channels), v.real("mup_attn_scale_power"));
  }
}

}  // namespace

/// Returns 1 also where sizes are missing, which a rule tells.
double mup_width(const OptionValues& v) {
  const Index hidden = v.maybe_integer("hidden_size").value_or(0);
  const Index base = v.maybe_integer("mup_base_hidden_size").value_or(hidden);
  return v.flag("use_mup") && hidden > 0 && base > 0
             ? static_cast<double>(hidden) / static_cast<double>(base)
             : 1;
}

/// Runs behind the parts of 0.14, some of whose values it changes (deviations by muP).
void resolve_later_releases(ModelConfig& m, const OptionValues& v) {
  m.window_size = window_size(v);
  m.window_layers = window_layers(v, m.num_layers);
  m.attention_output_gate = v.flag("attention_output_gate");
  m.attention_sink =
      pick<AttentionSink>(v.text("softmax_type"), {{"vanilla", AttentionSink::none},
                                                   {"off-by-one", AttentionSink::zero},
                                                   {"learnable", AttentionSink::learned}});
  m.log_max_attention_logit = v.flag("log_max_attention_logit");
  if (v.flag("qk_clip")) {
    m.qk_clip = {.alpha = v.real("qk_clip_alpha"), .threshold = v.real("qk_clip_threshold")};
  }
  m.activation_clamp = v.maybe_real("activation_func_clamp_value");
  m.glu_linear_offset = v.real("glu_linear_offset");
  resolve_gemma(m, v);
  resolve_llama4(m, v);
  resolve_mup(m, v);
}

}  // namespace mpitron::config

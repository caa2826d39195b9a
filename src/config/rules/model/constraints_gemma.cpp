#include <array>
#include <string>

#include <fmt/format.h>

#include "config/rules/constraint.h"

// Rules of what Gemma's layers have beside others: norms behind branches, embeddings times the root
// of their width, rotary positions of windows, scores divided by a number of their own.

namespace mpitron::config {
namespace {

Result norms_behind_branches(const Facts& f) {
  const ModelConfig& m = f.run.model;
  const char* const given = m.post_self_attn_layernorm ? "--post-self-attn-layernorm"
                            : m.post_mlp_layernorm     ? "--post-mlp-layernorm"
                            : m.scale_embeddings       ? "--scale-embeddings"
                                                       : nullptr;
  const bool letters = !m.hybrid.pattern.empty();
  if (given == nullptr || (m.family().decoder_only && !letters)) {
    return {};
  }
  return Violation{fmt::format("{} with {}", given,
                               letters ? std::string("layers by letters")
                                       : fmt::format("--model {}", m.family().name)),
                   "--model gpt"};
}

/// Layers with and without a window may turn at different speeds; without windows there is but one
/// kind of layer.
Result rotary_base_of_windows(const Facts& f) {
  const ModelConfig& m = f.run.model;
  if (!m.rotary_base_local) {
    return {};
  }
  const char* const missing =
      *m.rotary_base_local < 1                               ? "a base below 1"
      : m.position_embedding_type != PositionEmbedding::rope ? "no rotary positions"
      : !m.window_size                                       ? "no window"
      : m.multi_latent_attention || !m.family().decoder_only ? "attention of another kind"
                                                             : nullptr;
  return missing == nullptr
             ? Result()
             : Violation{fmt::format("--rotary-base-local {}, {}", *m.rotary_base_local, missing),
                         "--position-embedding-type rope --window-size 511,0 "
                         "--window-attn-skip-freq 6 --rotary-base-local 10000"};
}

Result scale_of_scores(const Facts& f) {
  const ModelConfig& m = f.run.model;
  if (!m.query_pre_attn_scalar) {
    return {};
  }
  const char* const wrong = !(*m.query_pre_attn_scalar > 0) ? "not above 0"
                            : m.mup                         ? "--use-mup has a scale as well"
                            : m.multi_latent_attention      ? "latent attention has its own scale"
                                                            : nullptr;
  return wrong == nullptr ? Result()
                          : Violation{fmt::format("--query-pre-attn-scalar {}, {}",
                                                  *m.query_pre_attn_scalar, wrong),
                                      "--query-pre-attn-scalar 256"};
}

/// The largest score of QK-clip is looked for without a bound.
Result bounds_of_logits(const Facts& f) {
  const ModelConfig& m = f.run.model;
  const auto bad = [](const std::optional<double>& bound) { return bound && !(*bound > 0); };
  if (!m.attn_logit_softcapping && !m.final_logit_softcapping) {
    return {};
  }
  const bool scores = m.attn_logit_softcapping.has_value();
  const char* const wrong = bad(m.attn_logit_softcapping) || bad(m.final_logit_softcapping)
                                ? "a bound that is not above 0"
                            : !m.family().decoder_only           ? "an encoder"
                            : scores && m.multi_latent_attention ? "--multi-latent-attention"
                            : scores && (m.qk_clip || m.log_max_attention_logit)
                                ? "--qk-clip or --log-max-attention-logit"
                                : nullptr;
  return wrong == nullptr ? Result()
                          : Violation{fmt::format("given with {}", wrong),
                                      "--attn-logit-softcapping 50 --final-logit-softcapping 30"};
}

constexpr std::array kGemmaRules = std::to_array<Constraint>({
    {"E350", "norms_behind_branches",
     "--post-self-attn-layernorm, --post-mlp-layernorm and --scale-embeddings are for a GPT's "
     "layers",
     "post-self-attn-layernorm post-mlp-layernorm scale-embeddings model hybrid-layer-pattern",
     "Layers of a decoder have both branches; layers by letters and encoders have no such norms.",
     norms_behind_branches},
    {"E351", "rotary_base_of_windows",
     "--rotary-base-local needs --position-embedding-type rope and --window-size",
     "rotary-base-local position-embedding-type window-size multi-latent-attention model",
     "It is the base of those layers of a GPT that have a window; all others have --rotary-base.",
     rotary_base_of_windows},
    {"E352", "scale_of_scores", "query_pre_attn_scalar > 0, without another scale of the scores",
     "query-pre-attn-scalar use-mup multi-latent-attention",
     "Scores are divided by its root in place of the root of the head size.", scale_of_scores},
    {"E353", "bounds_of_logits",
     "--attn-logit-softcapping, --final-logit-softcapping > 0, for a GPT's heads; no --qk-clip",
     "attn-logit-softcapping final-logit-softcapping multi-latent-attention qk-clip "
     "log-max-attention-logit model",
     "A tanh bounds each score before the softmax; the largest one is looked for without it.",
     bounds_of_logits},
});

}  // namespace

std::span<const Constraint> gemma_constraints() {
  return kGemmaRules;
}

}  // namespace mpitron::config

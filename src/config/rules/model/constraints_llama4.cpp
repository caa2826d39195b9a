#include <array>

#include <fmt/format.h>

#include "config/rules/constraint.h"

// Rules of what Llama 4's layers have beside others: norms in rotating layers alone, chunks, scaled
// queries.

namespace mpitron::config {
namespace {

using Result = std::optional<Violation>;

/// A factor below that of low frequencies would turn the order of the two bounds around.
Result parts_of_rotating_layers(const Facts& f) {
  const ModelConfig& m = f.run.model;
  if (m.qk_l2_norm_with_rope_only && !m.qk_l2_norm) {
    return Violation{"no --qk-l2-norm", "--qk-l2-norm --qk-l2-norm-with-rope-only"};
  }
  return m.rope_scaling_high_freq_factor >= 1
             ? Result()
             : Violation{fmt::format("--rope-scaling-high-freq-factor {}",
                                     m.rope_scaling_high_freq_factor),
                         "--rope-scaling-high-freq-factor 4"};
}

/// Each layer is cut by one rule.
Result chunks_of_attention(const Facts& f) {
  const ModelConfig& m = f.run.model;
  if (!m.attention_chunk_size) {
    return {};
  }
  const char* const wrong = *m.attention_chunk_size < 1                            ? "below 1"
                            : !m.family().decoder_only                             ? "an encoder"
                            : m.position_embedding_type != PositionEmbedding::rope ? "no rotation"
                            : m.multi_latent_attention ? "--multi-latent-attention"
                            : m.window_size            ? "--window-size"
                            : m.mtp_num_layers         ? "--mtp-num-layers"
                                                       : nullptr;
  return wrong == nullptr ? Result()
                          : Violation{fmt::format("--attention-chunk-size {}, {}",
                                                  *m.attention_chunk_size, wrong),
                                      "--position-embedding-type rope --attention-chunk-size 8192"};
}

Result scales_of_queries(const Facts& f) {
  const ModelConfig& m = f.run.model;
  if (!m.query_scale) {
    // Stored models name every option.
    return f.values.real("query_scale_growth") != QueryScale{}.growth
               ? Violation{"--query-scale-growth alone", "--query-scale-floor 8192"}
               : Result();
  }
  const char* const wrong = m.query_scale->floor < 1       ? "below 1"
                            : !(m.query_scale->growth > 0) ? "a growth that is not above 0"
                            : !m.family().decoder_only ||
                                    m.position_embedding_type != PositionEmbedding::rope ||
                                    m.no_rope_layers.empty()
                                ? "no layer without rotation in a GPT that rotates"
                                : nullptr;
  return wrong == nullptr
             ? Result()
             : Violation{fmt::format("--query-scale-floor {}, {}", m.query_scale->floor, wrong),
                         "--position-embedding-type rope --no-rope-freq 4 "
                         "--query-scale-floor 8192 --query-scale-growth 0.1"};
}

constexpr std::array kLlama4Rules = std::to_array<Constraint>({
    {"E354", "parts_of_rotating_layers",
     "--qk-l2-norm-with-rope-only needs --qk-l2-norm; rope_scaling_high_freq_factor >= 1",
     "qk-l2-norm-with-rope-only qk-l2-norm rope-scaling-high-freq-factor",
     "Llama 4 normalises the heads of rotating layers alone; 1 is the factor of low frequencies.",
     parts_of_rotating_layers},
    {"E355", "chunks_of_attention",
     "--attention-chunk-size >= 1 is for a GPT that rotates, without windows, latent attention and "
     "prediction depths",
     "attention-chunk-size position-embedding-type window-size multi-latent-attention "
     "mtp-num-layers model",
     "Layers that rotate attend within chunks, the others to the whole sequence.",
     chunks_of_attention},
    {"E356", "scales_of_queries",
     "--query-scale-floor >= 1 with --query-scale-growth > 0 is for a GPT with --no-rope-freq",
     "query-scale-floor query-scale-growth no-rope-freq position-embedding-type model",
     "Queries of layers that do not rotate grow with the logarithm of their position.",
     scales_of_queries},
});

}  // namespace

std::span<const Constraint> llama4_constraints() {
  return kLlama4Rules;
}

}  // namespace mpitron::config

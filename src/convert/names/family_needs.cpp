#include "convert/names/family_needs.h"

// Needs that families share: positions, norms, activations and experts, each with the option that
// meets it.

namespace mpitron::convert {

using config::ActivationKind;
using config::ModelConfig;
using config::ModelKind;
using config::MoeConfig;
using config::Normalization;
using config::PositionEmbedding;
using config::RouterScore;

void append(Needs& needs, Needs more) {
  needs.insert(needs.end(), more.begin(), more.end());
}

Needs in_any_family(const ModelConfig& m, ModelKind kind) {
  return {{m.kind == kind, std::string("--model ") + config::family_of(kind).name},
          {!m.mtp_num_layers, "no --mtp-num-layers"},
          {m.mrope_section.empty(), "no --position-embedding-type mrope"},
          {!m.mup, "no --use-mup"}};
}

Needs rotating_layers(const ModelConfig& m) {
  return {{!m.qk_l2_norm, "no --qk-l2-norm"},
          {m.no_rope_layers.empty(), "no --no-rope-freq"},
          {!m.attention_chunk_size, "no --attention-chunk-size"},
          {!m.query_scale, "no --query-scale-floor"}};
}

Needs norms_in_front(const ModelConfig& m) {
  return {{!m.post_self_attn_layernorm, "no --post-self-attn-layernorm"},
          {!m.post_mlp_layernorm, "no --post-mlp-layernorm"},
          {!m.scale_embeddings, "no --scale-embeddings"},
          {!m.rotary_base_local, "no --rotary-base-local"},
          {!m.query_pre_attn_scalar, "no --query-pre-attn-scalar"},
          {!m.attn_logit_softcapping, "no --attn-logit-softcapping"},
          {!m.final_logit_softcapping, "no --final-logit-softcapping"}};
}

Needs classic_layers(const ModelConfig& m) {
  return {{!m.apply_layernorm_1p, "no --apply-layernorm-1p"},
          {m.hybrid.delta_layers.empty(), "no --experimental-attention-variant"},
          {!m.attention_output_gate, "no --attention-output-gate"},
          {!m.moe || !m.moe->shared_expert_gate, "no --moe-shared-expert-gate"}};
}

Needs unlimited(const ModelConfig& m) {
  return {{m.attention_sink == config::AttentionSink::none, "--softmax-type vanilla"},
          {!m.window_size, "no --window-size"},
          {!m.activation_clamp && m.glu_linear_offset == 0, "no limits of gated activations"}};
}

Needs modern(const ModelConfig& m) {
  return {{m.position_embedding_type == PositionEmbedding::rope, "--position-embedding-type rope"},
          {m.normalization == Normalization::rms_norm, "--normalization RMSNorm"},
          {m.gated_linear_unit && m.activation == ActivationKind::silu, "--swiglu"}};
}

Needs whole_heads(const ModelConfig& m) {
  return {{m.rotary_percent == 1, "--rotary-percent 1"}};
}

Needs plain_routing(const MoeConfig& moe) {
  return {{moe.score == RouterScore::softmax, "--moe-router-score-function softmax"},
          {!moe.sinkhorn, "a router without sinkhorn"},
          {!moe.expert_bias, "no --moe-router-enable-expert-bias"},
          {!moe.capacity_factor, "no --moe-expert-capacity-factor"},
          {!moe.apply_probs_on_input, "no --moe-apply-probs-on-input"}};
}

Needs experts_everywhere(const ModelConfig& m, bool shared) {
  if (!m.moe) {
    return {{false, "--num-experts"}};
  }
  Needs needs = plain_routing(*m.moe);
  const bool has_shared = m.moe->shared_expert_intermediate_size > 0;
  append(needs,
         {{m.moe->count_layers() == m.num_layers, "--moe-layer-freq 1"},
          {has_shared == shared && m.moe->shared_expert_gate == shared,
           shared ? "--moe-shared-expert-gate" : "no shared expert"},
          {!m.moe->pre_softmax, "no --moe-router-pre-softmax"},
          {m.moe->num_groups.value_or(1) == 1, "no --moe-router-num-groups"},
          {m.moe->topk_scaling_factor.value_or(1) == 1, "no --moe-router-topk-scaling-factor"}});
  return needs;
}

}  // namespace mpitron::convert

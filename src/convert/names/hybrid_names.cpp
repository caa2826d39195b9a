#include "convert/names/llama_blocks.h"
#include "convert/names/name_families.h"

// Tables of names of decoders with state-space layers, alone or beside attention.

namespace mpitron::convert {
namespace {

using namespace llama_blocks;

/// Mamba-2 and Nemotron-H: layers of one branch, whose norm has one name there and that of its kind
/// here.
constexpr Entry kMambaStart[] = {
    padded("embedding.word_embeddings.weight", hidden, "backbone.embeddings.weight"),
};

constexpr Entry kMambaMixer[] = {
    vector("decoder.layers.{}.norm.weight", hidden, "backbone.layers.{}.norm.weight")
        .only(mamba_layer),
    matrix("decoder.layers.{}.mixer.in_proj.weight", mamba_projected, hidden,
           "backbone.layers.{}.mixer.in_proj.weight")
        .only(mamba_layer),
    convolution("decoder.layers.{}.mixer.conv1d.weight", mamba_channels, mamba_taps,
                "backbone.layers.{}.mixer.conv1d.weight")
        .only(mamba_layer),
    vector("decoder.layers.{}.mixer.conv1d.bias", mamba_channels,
           "backbone.layers.{}.mixer.conv1d.bias")
        .only(mamba_layer),
    vector("decoder.layers.{}.mixer.dt_bias", mamba_heads, "backbone.layers.{}.mixer.dt_bias")
        .only(mamba_layer),
    vector("decoder.layers.{}.mixer.A_log", mamba_heads, "backbone.layers.{}.mixer.A_log")
        .only(mamba_layer),
    vector("decoder.layers.{}.mixer.D", mamba_heads, "backbone.layers.{}.mixer.D")
        .only(mamba_layer),
    vector("decoder.layers.{}.mixer.norm.weight", mamba_width,
           "backbone.layers.{}.mixer.norm.weight")
        .only(mamba_layer),
    matrix("decoder.layers.{}.mixer.out_proj.weight", hidden, mamba_width,
           "backbone.layers.{}.mixer.out_proj.weight")
        .only(mamba_layer),
};

/// Nemotron-H: one norm a layer, called `norm`, which is here named by what follows it.
constexpr Entry kNemotronLayer[] = {
    vector("decoder.layers.{}.input_layernorm.weight", hidden, "backbone.layers.{}.norm.weight")
        .only(attention_layer),
    matrix("decoder.layers.{}.self_attention.linear_proj.weight", hidden, queries,
           "backbone.layers.{}.mixer.o_proj.weight")
        .only(attention_layer),
    joined("decoder.layers.{}.self_attention.linear_qkv.weight", qkv, hidden,
           {{{"backbone.layers.{}.mixer.q_proj.weight", queries},
             {"backbone.layers.{}.mixer.k_proj.weight", keys},
             {"backbone.layers.{}.mixer.v_proj.weight", keys}}})
        .ordered(Rows::query_groups)
        .only(attention_layer),
    vector("decoder.layers.{}.pre_mlp_layernorm.weight", hidden, "backbone.layers.{}.norm.weight")
        .only(dense_layer),
    matrix("decoder.layers.{}.mlp.linear_fc1.weight", ffn, hidden,
           "backbone.layers.{}.mixer.up_proj.weight")
        .only(dense_layer),
    matrix("decoder.layers.{}.mlp.linear_fc2.weight", hidden, ffn,
           "backbone.layers.{}.mixer.down_proj.weight")
        .only(dense_layer),
};

constexpr Entry kMambaEnd[] = {
    vector("decoder.final_norm.weight", hidden, "backbone.norm_f.weight"),
    padded("output_layer.weight", hidden, "lm_head.weight").only(untied),
};

/// Qwen3-Next: q_proj holds each query head with its gate.
constexpr Entry kGatedAttention[] = {
    matrix("decoder.layers.{}.self_attention.linear_proj.weight", hidden, queries,
           "model.layers.{}.self_attn.o_proj.weight")
        .only(attention_layer),
    joined("decoder.layers.{}.self_attention.linear_qkv.weight", gated_qkv, hidden,
           {{{"model.layers.{}.self_attn.q_proj.weight", gated_queries},
             {"model.layers.{}.self_attn.k_proj.weight", keys},
             {"model.layers.{}.self_attn.v_proj.weight", keys}}})
        .ordered(Rows::gated_query_groups)
        .only(attention_layer),
};

/// Gated delta nets: theirs are two projections (q, k, v, z and b, a), each by key heads; here they
/// are one.
constexpr Entry kDeltaNet[] = {
    joined("decoder.layers.{}.self_attention.in_proj.weight", delta_projected, hidden,
           {{{"model.layers.{}.linear_attn.in_proj_qkvz.weight", delta_streams},
             {"model.layers.{}.linear_attn.in_proj_ba.weight", delta_rates}}})
        .ordered(Rows::key_heads)
        .only(delta_layer),
    convolution("decoder.layers.{}.self_attention.conv1d.weight", delta_channels, delta_taps,
                "model.layers.{}.linear_attn.conv1d.weight")
        .only(delta_layer),
    vector("decoder.layers.{}.self_attention.dt_bias", delta_heads,
           "model.layers.{}.linear_attn.dt_bias")
        .only(delta_layer),
    vector("decoder.layers.{}.self_attention.A_log", delta_heads,
           "model.layers.{}.linear_attn.A_log")
        .only(delta_layer),
    vector("decoder.layers.{}.self_attention.out_norm.weight", delta_value_dim,
           "model.layers.{}.linear_attn.norm.weight")
        .only(delta_layer),
    matrix("decoder.layers.{}.self_attention.out_proj.weight", hidden, delta_values,
           "model.layers.{}.linear_attn.out_proj.weight")
        .only(delta_layer),
};

/// Experts of Qwen3-Next, with a gate before the shared one.
constexpr Entry kQwenExperts[] = {
    matrix("decoder.layers.{}.mlp.router.weight", experts, hidden,
           "model.layers.{}.mlp.gate.weight"),
    joined("decoder.layers.{}.mlp.experts.local_experts.{e}.linear_fc1.weight", expert_fc1, hidden,
           {{{"model.layers.{}.mlp.experts.{e}.gate_proj.weight", expert_ffn},
             {"model.layers.{}.mlp.experts.{e}.up_proj.weight", expert_ffn}}}),
    matrix("decoder.layers.{}.mlp.experts.local_experts.{e}.linear_fc2.weight", hidden, expert_ffn,
           "model.layers.{}.mlp.experts.{e}.down_proj.weight"),
    joined("decoder.layers.{}.mlp.shared_experts.linear_fc1.weight", shared_fc1, hidden,
           {{{"model.layers.{}.mlp.shared_expert.gate_proj.weight", shared_ffn},
             {"model.layers.{}.mlp.shared_expert.up_proj.weight", shared_ffn}}}),
    matrix("decoder.layers.{}.mlp.shared_experts.linear_fc2.weight", hidden, shared_ffn,
           "model.layers.{}.mlp.shared_expert.down_proj.weight"),
    matrix("decoder.layers.{}.mlp.shared_experts.gate_weight", one, hidden,
           "model.layers.{}.mlp.shared_expert_gate.weight"),
};

constexpr EntryBlock kMamba2[] = {kMambaStart, kMambaMixer, kMambaEnd};
constexpr EntryBlock kNemotronH[] = {kMambaStart, kMambaMixer, kNemotronLayer, kMambaEnd};
constexpr EntryBlock kQwen3Next[] = {kLlamaStart, kLlamaNorms,  kGatedAttention, kHeadNorms,
                                     kDeltaNet,   kQwenExperts, kLlamaEnd};

}  // namespace

std::span<const EntryBlock> mamba2_names() {
  return kMamba2;
}

std::span<const EntryBlock> nemotron_h_names() {
  return kNemotronH;
}

std::span<const EntryBlock> qwen3_next_names() {
  return kQwen3Next;
}

}  // namespace mpitron::convert

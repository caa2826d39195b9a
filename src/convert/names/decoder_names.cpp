#include "convert/names/name_families.h"

// Tables of names of decoders: what each of our parameters is called in the families of Hugging
// Face, and in which order its rows stand there.

namespace mpitron::convert {
namespace {

using enum Extent;
using enum When;

/// GPT-2. Its linear layers are Conv1D modules, which keep the input first: matrices are
/// transposed.
constexpr Entry kGpt2Start[] = {
    padded("embedding.word_embeddings.weight", hidden, "transformer.wte.weight"),
    matrix("embedding.position_embeddings.weight", positions, hidden, "transformer.wpe.weight"),
};

constexpr Entry kGpt2Layer[] = {
    vector("decoder.layers.{}.input_layernorm.weight", hidden, "transformer.h.{}.ln_1.weight"),
    vector("decoder.layers.{}.input_layernorm.bias", hidden, "transformer.h.{}.ln_1.bias"),
    matrix("decoder.layers.{}.self_attention.linear_proj.weight", hidden, queries,
           "transformer.h.{}.attn.c_proj.weight")
        .transpose(),
    vector("decoder.layers.{}.self_attention.linear_proj.bias", hidden,
           "transformer.h.{}.attn.c_proj.bias"),
    matrix("decoder.layers.{}.self_attention.linear_qkv.weight", qkv, hidden,
           "transformer.h.{}.attn.c_attn.weight")
        .ordered(Rows::query_groups)
        .transpose(),
    vector("decoder.layers.{}.self_attention.linear_qkv.bias", qkv,
           "transformer.h.{}.attn.c_attn.bias")
        .ordered(Rows::query_groups),
    vector("decoder.layers.{}.pre_mlp_layernorm.weight", hidden, "transformer.h.{}.ln_2.weight"),
    vector("decoder.layers.{}.pre_mlp_layernorm.bias", hidden, "transformer.h.{}.ln_2.bias"),
    matrix("decoder.layers.{}.mlp.linear_fc1.weight", ffn, hidden,
           "transformer.h.{}.mlp.c_fc.weight")
        .transpose(),
    vector("decoder.layers.{}.mlp.linear_fc1.bias", ffn, "transformer.h.{}.mlp.c_fc.bias"),
    matrix("decoder.layers.{}.mlp.linear_fc2.weight", hidden, ffn,
           "transformer.h.{}.mlp.c_proj.weight")
        .transpose(),
    vector("decoder.layers.{}.mlp.linear_fc2.bias", hidden, "transformer.h.{}.mlp.c_proj.bias"),
};

constexpr Entry kGpt2End[] = {
    vector("decoder.final_layernorm.weight", hidden, "transformer.ln_f.weight"),
    vector("decoder.final_layernorm.bias", hidden, "transformer.ln_f.bias"),
    padded("output_layer.weight", hidden, "lm_head.weight").only(untied),
};

/// Llama, and the blocks that its descendants share with it.
constexpr Entry kLlamaStart[] = {
    padded("embedding.word_embeddings.weight", hidden, "model.embed_tokens.weight"),
};

constexpr Entry kLlamaNorms[] = {
    vector("decoder.layers.{}.input_layernorm.weight", hidden,
           "model.layers.{}.input_layernorm.weight"),
    vector("decoder.layers.{}.pre_mlp_layernorm.weight", hidden,
           "model.layers.{}.post_attention_layernorm.weight"),
};

/// Gemma: post_attention_layernorm stands behind attention there, and not in front of the MLP.
constexpr Entry kGemmaNorms[] = {
    vector("decoder.layers.{}.input_layernorm.weight", hidden,
           "model.layers.{}.input_layernorm.weight"),
    vector("decoder.layers.{}.post_self_attn_layernorm.weight", hidden,
           "model.layers.{}.post_attention_layernorm.weight"),
    vector("decoder.layers.{}.pre_mlp_layernorm.weight", hidden,
           "model.layers.{}.pre_feedforward_layernorm.weight"),
    vector("decoder.layers.{}.post_mlp_layernorm.weight", hidden,
           "model.layers.{}.post_feedforward_layernorm.weight"),
};

constexpr Entry kLlamaAttention[] = {
    matrix("decoder.layers.{}.self_attention.linear_proj.weight", hidden, queries,
           "model.layers.{}.self_attn.o_proj.weight"),
    vector("decoder.layers.{}.self_attention.linear_proj.bias", hidden,
           "model.layers.{}.self_attn.o_proj.bias")
        .only(linear_bias),
    joined("decoder.layers.{}.self_attention.linear_qkv.weight", qkv, hidden,
           {{{"model.layers.{}.self_attn.q_proj.weight", queries},
             {"model.layers.{}.self_attn.k_proj.weight", keys},
             {"model.layers.{}.self_attn.v_proj.weight", keys}}})
        .ordered(Rows::query_groups),
    joined("decoder.layers.{}.self_attention.linear_qkv.bias", qkv, none,
           {{{"model.layers.{}.self_attn.q_proj.bias", queries},
             {"model.layers.{}.self_attn.k_proj.bias", keys},
             {"model.layers.{}.self_attn.v_proj.bias", keys}}})
        .ordered(Rows::query_groups)
        .only(qkv_bias),
};

constexpr Entry kLlamaMlp[] = {
    joined("decoder.layers.{}.mlp.linear_fc1.weight", fc1, hidden,
           {{{"model.layers.{}.mlp.gate_proj.weight", ffn},
             {"model.layers.{}.mlp.up_proj.weight", ffn}}}),
    joined(
        "decoder.layers.{}.mlp.linear_fc1.bias", fc1, none,
        {{{"model.layers.{}.mlp.gate_proj.bias", ffn}, {"model.layers.{}.mlp.up_proj.bias", ffn}}})
        .only(linear_bias),
    matrix("decoder.layers.{}.mlp.linear_fc2.weight", hidden, ffn,
           "model.layers.{}.mlp.down_proj.weight"),
    vector("decoder.layers.{}.mlp.linear_fc2.bias", hidden, "model.layers.{}.mlp.down_proj.bias")
        .only(linear_bias),
};

constexpr Entry kLlamaEnd[] = {
    vector("decoder.final_layernorm.weight", hidden, "model.norm.weight"),
    padded("output_layer.weight", hidden, "lm_head.weight").only(untied),
};

/// Mixtral: w1 is the gate, w3 the other half, w2 the way back.
constexpr Entry kMixtralExperts[] = {
    matrix("decoder.layers.{}.mlp.router.weight", experts, hidden,
           "model.layers.{}.block_sparse_moe.gate.weight"),
    joined("decoder.layers.{}.mlp.experts.local_experts.{e}.linear_fc1.weight", expert_fc1, hidden,
           {{{"model.layers.{}.block_sparse_moe.experts.{e}.w1.weight", expert_ffn},
             {"model.layers.{}.block_sparse_moe.experts.{e}.w3.weight", expert_ffn}}}),
    matrix("decoder.layers.{}.mlp.experts.local_experts.{e}.linear_fc2.weight", hidden, expert_ffn,
           "model.layers.{}.block_sparse_moe.experts.{e}.w2.weight"),
};

/// DeepSeek: queries with or without a compression, keys and values from a latent with its norm.
constexpr Entry kLatentAttention[] = {
    matrix("decoder.layers.{}.self_attention.linear_proj.weight", hidden, latent_values,
           "model.layers.{}.self_attn.o_proj.weight"),
    matrix("decoder.layers.{}.self_attention.linear_q_proj.weight", latent_queries, hidden,
           "model.layers.{}.self_attn.q_proj.weight")
        .only(plain_queries),
    matrix("decoder.layers.{}.self_attention.linear_q_down_proj.weight", query_rank, hidden,
           "model.layers.{}.self_attn.q_a_proj.weight")
        .only(compressed_queries),
    matrix("decoder.layers.{}.self_attention.linear_q_up_proj.weight", latent_queries, query_rank,
           "model.layers.{}.self_attn.q_b_proj.weight")
        .only(compressed_queries),
    vector("decoder.layers.{}.self_attention.q_layernorm.weight", query_rank,
           "model.layers.{}.self_attn.q_a_layernorm.weight")
        .only(compressed_queries),
    matrix("decoder.layers.{}.self_attention.linear_kv_down_proj.weight", kv_rank_and_rope, hidden,
           "model.layers.{}.self_attn.kv_a_proj_with_mqa.weight"),
    matrix("decoder.layers.{}.self_attention.linear_kv_up_proj.weight", latent_kv, kv_rank,
           "model.layers.{}.self_attn.kv_b_proj.weight"),
    vector("decoder.layers.{}.self_attention.kv_layernorm.weight", kv_rank,
           "model.layers.{}.self_attn.kv_a_layernorm.weight"),
};

/// Dense layers first, then experts beside shared ones, which count as one wide MLP.
constexpr Entry kDeepSeekMlp[] = {
    joined("decoder.layers.{}.mlp.linear_fc1.weight", fc1, hidden,
           {{{"model.layers.{}.mlp.gate_proj.weight", ffn},
             {"model.layers.{}.mlp.up_proj.weight", ffn}}})
        .only(dense_layer),
    matrix("decoder.layers.{}.mlp.linear_fc2.weight", hidden, ffn,
           "model.layers.{}.mlp.down_proj.weight")
        .only(dense_layer),
    matrix("decoder.layers.{}.mlp.router.weight", experts, hidden,
           "model.layers.{}.mlp.gate.weight")
        .only(expert_layer),
    joined("decoder.layers.{}.mlp.experts.local_experts.{e}.linear_fc1.weight", expert_fc1, hidden,
           {{{"model.layers.{}.mlp.experts.{e}.gate_proj.weight", expert_ffn},
             {"model.layers.{}.mlp.experts.{e}.up_proj.weight", expert_ffn}}})
        .only(expert_layer),
    matrix("decoder.layers.{}.mlp.experts.local_experts.{e}.linear_fc2.weight", hidden, expert_ffn,
           "model.layers.{}.mlp.experts.{e}.down_proj.weight")
        .only(expert_layer),
    joined("decoder.layers.{}.mlp.shared_experts.linear_fc1.weight", shared_fc1, hidden,
           {{{"model.layers.{}.mlp.shared_experts.gate_proj.weight", shared_ffn},
             {"model.layers.{}.mlp.shared_experts.up_proj.weight", shared_ffn}}})
        .only(shared_expert),
    matrix("decoder.layers.{}.mlp.shared_experts.linear_fc2.weight", hidden, shared_ffn,
           "model.layers.{}.mlp.shared_experts.down_proj.weight")
        .only(shared_expert),
};

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

/// Norms of each head's queries and keys.
constexpr Entry kHeadNorms[] = {
    vector("decoder.layers.{}.self_attention.q_layernorm.weight", channels,
           "model.layers.{}.self_attn.q_norm.weight")
        .only(attention_layer),
    vector("decoder.layers.{}.self_attention.k_layernorm.weight", channels,
           "model.layers.{}.self_attn.k_norm.weight")
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

/// GPT-OSS: a logit a head that takes part in the softmax and has no value.
constexpr Entry kSinks[] = {
    vector("decoder.layers.{}.self_attention.core_attention.softmax_offset", heads,
           "model.layers.{}.self_attn.sinks"),
};

/// Experts' tensors as formats/stacked_experts.h takes them apart.
constexpr Entry kGptOssExperts[] = {
    matrix("decoder.layers.{}.mlp.router.weight", experts, hidden,
           "model.layers.{}.mlp.router.weight"),
    vector("decoder.layers.{}.mlp.router.bias", experts, "model.layers.{}.mlp.router.bias"),
    joined("decoder.layers.{}.mlp.experts.local_experts.{e}.linear_fc1.weight", expert_fc1, hidden,
           {{{"model.layers.{}.mlp.experts.{e}.gate_proj.weight", expert_ffn},
             {"model.layers.{}.mlp.experts.{e}.up_proj.weight", expert_ffn}}}),
    joined("decoder.layers.{}.mlp.experts.local_experts.{e}.linear_fc1.bias", expert_fc1, none,
           {{{"model.layers.{}.mlp.experts.{e}.gate_proj.bias", expert_ffn},
             {"model.layers.{}.mlp.experts.{e}.up_proj.bias", expert_ffn}}}),
    matrix("decoder.layers.{}.mlp.experts.local_experts.{e}.linear_fc2.weight", hidden, expert_ffn,
           "model.layers.{}.mlp.experts.{e}.down_proj.weight"),
    vector("decoder.layers.{}.mlp.experts.local_experts.{e}.linear_fc2.bias", hidden,
           "model.layers.{}.mlp.experts.{e}.down_proj.bias"),
};

/// Llama 4: neighbours rotate there as with --rotary-interleaved. Behind some layers stand experts
/// beside a shared one, behind the others an MLP.
constexpr Entry kLlama4Layer[] = {
    matrix("decoder.layers.{}.self_attention.linear_proj.weight", hidden, queries,
           "model.layers.{}.self_attn.o_proj.weight"),
    joined("decoder.layers.{}.self_attention.linear_qkv.weight", qkv, hidden,
           {{{"model.layers.{}.self_attn.q_proj.weight", queries},
             {"model.layers.{}.self_attn.k_proj.weight", keys},
             {"model.layers.{}.self_attn.v_proj.weight", keys}}})
        .ordered(Rows::query_groups_as_rotated),
    joined("decoder.layers.{}.mlp.linear_fc1.weight", fc1, hidden,
           {{{"model.layers.{}.feed_forward.gate_proj.weight", ffn},
             {"model.layers.{}.feed_forward.up_proj.weight", ffn}}})
        .only(dense_layer),
    matrix("decoder.layers.{}.mlp.linear_fc2.weight", hidden, ffn,
           "model.layers.{}.feed_forward.down_proj.weight")
        .only(dense_layer),
    matrix("decoder.layers.{}.mlp.router.weight", experts, hidden,
           "model.layers.{}.feed_forward.router.weight")
        .only(expert_layer),
    joined("decoder.layers.{}.mlp.experts.local_experts.{e}.linear_fc1.weight", expert_fc1, hidden,
           {{{"model.layers.{}.feed_forward.experts.{e}.gate_proj.weight", expert_ffn},
             {"model.layers.{}.feed_forward.experts.{e}.up_proj.weight", expert_ffn}}})
        .only(expert_layer),
    matrix("decoder.layers.{}.mlp.experts.local_experts.{e}.linear_fc2.weight", hidden, expert_ffn,
           "model.layers.{}.feed_forward.experts.{e}.down_proj.weight")
        .only(expert_layer),
    joined("decoder.layers.{}.mlp.shared_experts.linear_fc1.weight", shared_fc1, hidden,
           {{{"model.layers.{}.feed_forward.shared_expert.gate_proj.weight", shared_ffn},
             {"model.layers.{}.feed_forward.shared_expert.up_proj.weight", shared_ffn}}})
        .only(shared_expert),
    matrix("decoder.layers.{}.mlp.shared_experts.linear_fc2.weight", hidden, shared_ffn,
           "model.layers.{}.feed_forward.shared_expert.down_proj.weight")
        .only(shared_expert),
};

/// The families, in the order of a model: blocks whose names have {} are written out layer by
/// layer.
constexpr EntryBlock kGpt2[] = {kGpt2Start, kGpt2Layer, kGpt2End};
constexpr EntryBlock kLlama[] = {kLlamaStart, kLlamaNorms, kLlamaAttention, kLlamaMlp, kLlamaEnd};
constexpr EntryBlock kMixtral[] = {kLlamaStart, kLlamaNorms, kLlamaAttention, kMixtralExperts,
                                   kLlamaEnd};
constexpr EntryBlock kDeepSeekV2[] = {kLlamaStart, kLlamaNorms, kLatentAttention, kDeepSeekMlp,
                                      kLlamaEnd};
constexpr EntryBlock kGptOss[] = {kLlamaStart, kLlamaNorms,    kLlamaAttention,
                                  kSinks,      kGptOssExperts, kLlamaEnd};
constexpr EntryBlock kMamba2[] = {kMambaStart, kMambaMixer, kMambaEnd};
constexpr EntryBlock kNemotronH[] = {kMambaStart, kMambaMixer, kNemotronLayer, kMambaEnd};
constexpr EntryBlock kQwen3Next[] = {kLlamaStart, kLlamaNorms,  kGatedAttention, kHeadNorms,
                                     kDeltaNet,   kQwenExperts, kLlamaEnd};
constexpr EntryBlock kLlama4[] = {kLlamaStart, kLlamaNorms, kLlama4Layer, kLlamaEnd};
constexpr EntryBlock kGemma2[] = {kLlamaStart, kGemmaNorms, kLlamaAttention, kLlamaMlp, kLlamaEnd};
constexpr EntryBlock kGemma3[] = {kLlamaStart, kGemmaNorms, kLlamaAttention,
                                  kHeadNorms,  kLlamaMlp,   kLlamaEnd};

}  // namespace

std::span<const EntryBlock> gpt2_names() {
  return kGpt2;
}

std::span<const EntryBlock> llama_names() {
  return kLlama;
}

std::span<const EntryBlock> mixtral_names() {
  return kMixtral;
}

std::span<const EntryBlock> deepseek_v2_names() {
  return kDeepSeekV2;
}

std::span<const EntryBlock> gpt_oss_names() {
  return kGptOss;
}

std::span<const EntryBlock> mamba2_names() {
  return kMamba2;
}

std::span<const EntryBlock> nemotron_h_names() {
  return kNemotronH;
}

std::span<const EntryBlock> qwen3_next_names() {
  return kQwen3Next;
}

std::span<const EntryBlock> llama4_names() {
  return kLlama4;
}

std::span<const EntryBlock> gemma2_names() {
  return kGemma2;
}

std::span<const EntryBlock> gemma3_names() {
  return kGemma3;
}

}  // namespace mpitron::convert

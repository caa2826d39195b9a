#include "convert/names/llama_blocks.h"
#include "convert/names/name_families.h"

// Tables of names of decoders with experts in place of MLPs.

namespace mpitron::convert {
namespace {

using namespace llama_blocks;

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

constexpr EntryBlock kMixtral[] = {kLlamaStart, kLlamaNorms, kLlamaAttention, kMixtralExperts,
                                   kLlamaEnd};
constexpr EntryBlock kDeepSeekV2[] = {kLlamaStart, kLlamaNorms, kLatentAttention, kDeepSeekMlp,
                                      kLlamaEnd};
constexpr EntryBlock kGptOss[] = {kLlamaStart, kLlamaNorms,    kLlamaAttention,
                                  kSinks,      kGptOssExperts, kLlamaEnd};
constexpr EntryBlock kLlama4[] = {kLlamaStart, kLlamaNorms, kLlama4Layer, kLlamaEnd};

}  // namespace

std::span<const EntryBlock> mixtral_names() {
  return kMixtral;
}

std::span<const EntryBlock> deepseek_v2_names() {
  return kDeepSeekV2;
}

std::span<const EntryBlock> gpt_oss_names() {
  return kGptOss;
}

std::span<const EntryBlock> llama4_names() {
  return kLlama4;
}

}  // namespace mpitron::convert

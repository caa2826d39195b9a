#pragma once
#include "convert/names/name_entry.h"

namespace mpitron::convert::llama_blocks {

// Blocks of Llama's names, which the families that descend from it share.

using enum Extent;
using enum When;

inline constexpr Entry kLlamaStart[] = {
    padded("embedding.word_embeddings.weight", hidden, "model.embed_tokens.weight"),
};

inline constexpr Entry kLlamaNorms[] = {
    vector("decoder.layers.{}.input_layernorm.weight", hidden,
           "model.layers.{}.input_layernorm.weight"),
    vector("decoder.layers.{}.pre_mlp_layernorm.weight", hidden,
           "model.layers.{}.post_attention_layernorm.weight"),
};

inline constexpr Entry kLlamaAttention[] = {
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

inline constexpr Entry kLlamaMlp[] = {
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

inline constexpr Entry kLlamaEnd[] = {
    vector("decoder.final_layernorm.weight", hidden, "model.norm.weight"),
    padded("output_layer.weight", hidden, "lm_head.weight").only(untied),
};

/// Norms of each head's queries and keys.
inline constexpr Entry kHeadNorms[] = {
    vector("decoder.layers.{}.self_attention.q_layernorm.weight", channels,
           "model.layers.{}.self_attn.q_norm.weight")
        .only(attention_layer),
    vector("decoder.layers.{}.self_attention.k_layernorm.weight", channels,
           "model.layers.{}.self_attn.k_norm.weight")
        .only(attention_layer),
};

}  // namespace mpitron::convert::llama_blocks

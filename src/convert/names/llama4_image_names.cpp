#include "convert/names/name_families.h"

// Table of names of Llama 4's encoder, of the MLP behind its shuffled patches and of what brings
// them to the language model's width. Patches are rows of unfolded pixels there: a matrix, in the
// order of a convolution. Neighbours of a head rotate on both sides.

namespace mpitron::convert {
namespace {

using enum Extent;

constexpr Entry kLlama4TowerStart[] = {
    token("vision_model.class_token", hidden, "vision_model.class_embedding"),
    matrix("vision_model.conv1.weight", hidden, patch_pixels,
           "vision_model.patch_embedding.linear.weight"),
    matrix("vision_model.position_embeddings.weight", positions, hidden,
           "vision_model.positional_embedding_vlm"),
    vector("vision_model.ln_pre.weight", hidden, "vision_model.layernorm_pre.weight"),
    vector("vision_model.ln_pre.bias", hidden, "vision_model.layernorm_pre.bias"),
};

constexpr Entry kLlama4TowerAttention[] = {
    vector("vision_model.decoder.layers.{}.input_layernorm.weight", hidden,
           "vision_model.model.layers.{}.input_layernorm.weight"),
    vector("vision_model.decoder.layers.{}.input_layernorm.bias", hidden,
           "vision_model.model.layers.{}.input_layernorm.bias"),
    joined("vision_model.decoder.layers.{}.self_attention.linear_qkv.weight", qkv, hidden,
           {{{"vision_model.model.layers.{}.self_attn.q_proj.weight", queries},
             {"vision_model.model.layers.{}.self_attn.k_proj.weight", keys},
             {"vision_model.model.layers.{}.self_attn.v_proj.weight", keys}}})
        .ordered(Rows::query_groups_as_rotated),
    joined("vision_model.decoder.layers.{}.self_attention.linear_qkv.bias", qkv, none,
           {{{"vision_model.model.layers.{}.self_attn.q_proj.bias", queries},
             {"vision_model.model.layers.{}.self_attn.k_proj.bias", keys},
             {"vision_model.model.layers.{}.self_attn.v_proj.bias", keys}}})
        .ordered(Rows::query_groups_as_rotated),
    matrix("vision_model.decoder.layers.{}.self_attention.linear_proj.weight", hidden, queries,
           "vision_model.model.layers.{}.self_attn.o_proj.weight"),
    vector("vision_model.decoder.layers.{}.self_attention.linear_proj.bias", hidden,
           "vision_model.model.layers.{}.self_attn.o_proj.bias"),
};

constexpr Entry kLlama4TowerMlp[] = {
    vector("vision_model.decoder.layers.{}.pre_mlp_layernorm.weight", hidden,
           "vision_model.model.layers.{}.post_attention_layernorm.weight"),
    vector("vision_model.decoder.layers.{}.pre_mlp_layernorm.bias", hidden,
           "vision_model.model.layers.{}.post_attention_layernorm.bias"),
    matrix("vision_model.decoder.layers.{}.mlp.linear_fc1.weight", ffn, hidden,
           "vision_model.model.layers.{}.mlp.fc1.weight"),
    vector("vision_model.decoder.layers.{}.mlp.linear_fc1.bias", ffn,
           "vision_model.model.layers.{}.mlp.fc1.bias"),
    matrix("vision_model.decoder.layers.{}.mlp.linear_fc2.weight", hidden, ffn,
           "vision_model.model.layers.{}.mlp.fc2.weight"),
    vector("vision_model.decoder.layers.{}.mlp.linear_fc2.bias", hidden,
           "vision_model.model.layers.{}.mlp.fc2.bias"),
};

constexpr Entry kLlama4TowerEnd[] = {
    vector("vision_model.ln_post.weight", hidden, "vision_model.layernorm_post.weight"),
    vector("vision_model.ln_post.bias", hidden, "vision_model.layernorm_post.bias"),
};

constexpr Entry kLlama4Adapter[] = {
    matrix("vision_projection.encoder.linear_fc1.weight", projector_width, tower_width,
           "vision_model.vision_adapter.mlp.fc1.weight"),
    matrix("vision_projection.encoder.linear_fc2.weight", projector_width, projector_width,
           "vision_model.vision_adapter.mlp.fc2.weight"),
    matrix("vision_projection.encoder.weight", hidden, projector_width,
           "multi_modal_projector.linear_1.weight"),
};

constexpr EntryBlock kLlama4Tower[] = {kLlama4TowerStart, kLlama4TowerAttention, kLlama4TowerMlp,
                                       kLlama4TowerEnd};
constexpr EntryBlock kLlama4Projector[] = {kLlama4Adapter};

}  // namespace

std::span<const EntryBlock> llama4_tower_names() {
  return kLlama4Tower;
}

std::span<const EntryBlock> llama4_adapter_names() {
  return kLlama4Projector;
}

}  // namespace mpitron::convert

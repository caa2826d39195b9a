#include "convert/names/name_families.h"

// Table of names of Qwen2-VL's encoder and of what joins four of its patches and brings them to the
// language model's width. Queries, keys and values of all heads are one matrix there, too.

namespace mpitron::convert {
namespace {

using enum Extent;

constexpr Entry kQwenStart[] = {
    patches("vision_model.conv1.weight", hidden, "visual.patch_embed.proj.weight"),
};

constexpr Entry kQwenLayer[] = {
    vector("vision_model.decoder.layers.{}.input_layernorm.weight", hidden,
           "visual.blocks.{}.norm1.weight"),
    vector("vision_model.decoder.layers.{}.input_layernorm.bias", hidden,
           "visual.blocks.{}.norm1.bias"),
    joined("vision_model.decoder.layers.{}.self_attention.linear_qkv.weight", qkv, hidden,
           {{{"visual.blocks.{}.attn.qkv.weight", qkv}}})
        .ordered(Rows::query_groups),
    joined("vision_model.decoder.layers.{}.self_attention.linear_qkv.bias", qkv, none,
           {{{"visual.blocks.{}.attn.qkv.bias", qkv}}})
        .ordered(Rows::query_groups),
    matrix("vision_model.decoder.layers.{}.self_attention.linear_proj.weight", hidden, queries,
           "visual.blocks.{}.attn.proj.weight"),
    vector("vision_model.decoder.layers.{}.self_attention.linear_proj.bias", hidden,
           "visual.blocks.{}.attn.proj.bias"),
    vector("vision_model.decoder.layers.{}.pre_mlp_layernorm.weight", hidden,
           "visual.blocks.{}.norm2.weight"),
    vector("vision_model.decoder.layers.{}.pre_mlp_layernorm.bias", hidden,
           "visual.blocks.{}.norm2.bias"),
    matrix("vision_model.decoder.layers.{}.mlp.linear_fc1.weight", ffn, hidden,
           "visual.blocks.{}.mlp.fc1.weight"),
    vector("vision_model.decoder.layers.{}.mlp.linear_fc1.bias", ffn,
           "visual.blocks.{}.mlp.fc1.bias"),
    matrix("vision_model.decoder.layers.{}.mlp.linear_fc2.weight", hidden, ffn,
           "visual.blocks.{}.mlp.fc2.weight"),
    vector("vision_model.decoder.layers.{}.mlp.linear_fc2.bias", hidden,
           "visual.blocks.{}.mlp.fc2.bias"),
};

constexpr Entry kQwenEnd[] = {
    vector("vision_model.ln_post.weight", hidden, "visual.merger.ln_q.weight"),
    vector("vision_model.ln_post.bias", hidden, "visual.merger.ln_q.bias"),
};

constexpr Entry kQwenMerger[] = {
    matrix("vision_projection.encoder.linear_fc1.weight", projector_width, tower_width,
           "visual.merger.mlp.0.weight"),
    vector("vision_projection.encoder.linear_fc1.bias", projector_width,
           "visual.merger.mlp.0.bias"),
    matrix("vision_projection.encoder.linear_fc2.weight", hidden, projector_width,
           "visual.merger.mlp.2.weight"),
    vector("vision_projection.encoder.linear_fc2.bias", hidden, "visual.merger.mlp.2.bias"),
};

constexpr EntryBlock kQwenTower[] = {kQwenStart, kQwenLayer, kQwenEnd};
constexpr EntryBlock kQwenProjector[] = {kQwenMerger};

}  // namespace

std::span<const EntryBlock> qwen2_vl_tower_names() {
  return kQwenTower;
}

std::span<const EntryBlock> qwen2_vl_merger_names() {
  return kQwenProjector;
}

}  // namespace mpitron::convert

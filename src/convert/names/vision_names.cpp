#include "convert/names/name_families.h"

// Tables of names of what sees in LLaVA and Gemma 3: CLIP's encoder, without the norm behind its
// last layer, or SigLIP's, and the projector. Names of theirs are as the files have them;
// `pre_layrnorm` is spelled so.

namespace mpitron::convert {
namespace {

using enum Extent;

constexpr Entry kClipStart[] = {
    token("vision_model.class_token", hidden,
          "vision_tower.vision_model.embeddings.class_embedding"),
    patches("vision_model.conv1.weight", hidden,
            "vision_tower.vision_model.embeddings.patch_embedding.weight"),
    matrix("vision_model.position_embeddings.weight", positions, hidden,
           "vision_tower.vision_model.embeddings.position_embedding.weight"),
    vector("vision_model.ln_pre.weight", hidden, "vision_tower.vision_model.pre_layrnorm.weight"),
    vector("vision_model.ln_pre.bias", hidden, "vision_tower.vision_model.pre_layrnorm.bias"),
};

constexpr Entry kSiglipStart[] = {
    patches("vision_model.conv1.weight", hidden,
            "vision_tower.vision_model.embeddings.patch_embedding.weight"),
    vector("vision_model.conv1.bias", hidden,
           "vision_tower.vision_model.embeddings.patch_embedding.bias"),
    matrix("vision_model.position_embeddings.weight", positions, hidden,
           "vision_tower.vision_model.embeddings.position_embedding.weight"),
};

constexpr Entry kSiglipEnd[] = {
    vector("vision_model.ln_post.weight", hidden,
           "vision_tower.vision_model.post_layernorm.weight"),
    vector("vision_model.ln_post.bias", hidden, "vision_tower.vision_model.post_layernorm.bias"),
};

constexpr Entry kClipAttention[] = {
    vector("vision_model.decoder.layers.{}.input_layernorm.weight", hidden,
           "vision_tower.vision_model.encoder.layers.{}.layer_norm1.weight"),
    vector("vision_model.decoder.layers.{}.input_layernorm.bias", hidden,
           "vision_tower.vision_model.encoder.layers.{}.layer_norm1.bias"),
    joined("vision_model.decoder.layers.{}.self_attention.linear_qkv.weight", qkv, hidden,
           {{{"vision_tower.vision_model.encoder.layers.{}.self_attn.q_proj.weight", queries},
             {"vision_tower.vision_model.encoder.layers.{}.self_attn.k_proj.weight", keys},
             {"vision_tower.vision_model.encoder.layers.{}.self_attn.v_proj.weight", keys}}})
        .ordered(Rows::query_groups),
    joined("vision_model.decoder.layers.{}.self_attention.linear_qkv.bias", qkv, none,
           {{{"vision_tower.vision_model.encoder.layers.{}.self_attn.q_proj.bias", queries},
             {"vision_tower.vision_model.encoder.layers.{}.self_attn.k_proj.bias", keys},
             {"vision_tower.vision_model.encoder.layers.{}.self_attn.v_proj.bias", keys}}})
        .ordered(Rows::query_groups),
    matrix("vision_model.decoder.layers.{}.self_attention.linear_proj.weight", hidden, queries,
           "vision_tower.vision_model.encoder.layers.{}.self_attn.out_proj.weight"),
    vector("vision_model.decoder.layers.{}.self_attention.linear_proj.bias", hidden,
           "vision_tower.vision_model.encoder.layers.{}.self_attn.out_proj.bias"),
};

constexpr Entry kClipMlp[] = {
    vector("vision_model.decoder.layers.{}.pre_mlp_layernorm.weight", hidden,
           "vision_tower.vision_model.encoder.layers.{}.layer_norm2.weight"),
    vector("vision_model.decoder.layers.{}.pre_mlp_layernorm.bias", hidden,
           "vision_tower.vision_model.encoder.layers.{}.layer_norm2.bias"),
    matrix("vision_model.decoder.layers.{}.mlp.linear_fc1.weight", ffn, hidden,
           "vision_tower.vision_model.encoder.layers.{}.mlp.fc1.weight"),
    vector("vision_model.decoder.layers.{}.mlp.linear_fc1.bias", ffn,
           "vision_tower.vision_model.encoder.layers.{}.mlp.fc1.bias"),
    matrix("vision_model.decoder.layers.{}.mlp.linear_fc2.weight", hidden, ffn,
           "vision_tower.vision_model.encoder.layers.{}.mlp.fc2.weight"),
    vector("vision_model.decoder.layers.{}.mlp.linear_fc2.bias", hidden,
           "vision_tower.vision_model.encoder.layers.{}.mlp.fc2.bias"),
};

constexpr Entry kLlavaProjector[] = {
    matrix("vision_projection.encoder.linear_fc1.weight", projector_width, tower_width,
           "multi_modal_projector.linear_1.weight"),
    vector("vision_projection.encoder.linear_fc1.bias", projector_width,
           "multi_modal_projector.linear_1.bias"),
    matrix("vision_projection.encoder.linear_fc2.weight", hidden, projector_width,
           "multi_modal_projector.linear_2.weight"),
    vector("vision_projection.encoder.linear_fc2.bias", hidden,
           "multi_modal_projector.linear_2.bias"),
};

constexpr Entry kGemma3Projector[] = {
    vector("vision_projection.encoder.norm.weight", tower_width,
           "multi_modal_projector.mm_soft_emb_norm.weight"),
    matrix("vision_projection.encoder.weight", hidden, tower_width,
           "multi_modal_projector.mm_input_projection_weight")
        .transpose(),
};

constexpr EntryBlock kClip[] = {kClipStart, kClipAttention, kClipMlp};
constexpr EntryBlock kSiglip[] = {kSiglipStart, kClipAttention, kClipMlp, kSiglipEnd};
constexpr EntryBlock kProjector[] = {kLlavaProjector};
constexpr EntryBlock kPooledProjector[] = {kGemma3Projector};

}  // namespace

std::span<const EntryBlock> clip_names() {
  return kClip;
}

std::span<const EntryBlock> siglip_names() {
  return kSiglip;
}

std::span<const EntryBlock> llava_projector_names() {
  return kProjector;
}

std::span<const EntryBlock> gemma3_projector_names() {
  return kPooledProjector;
}

}  // namespace mpitron::convert

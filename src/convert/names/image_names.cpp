#include "convert/names/name_families.h"

// The table of names of ViT: what each of our parameters is called there. Their patches go through
// a convolution, whose filters are the rows of our matrix with the colours of a pixel side by side.

namespace mpitron::convert {
namespace {

using enum Extent;

constexpr Entry kVitStart[] = {
    batch_of_one("backbone.cls_token", one, hidden, "vit.embeddings.cls_token"),
    pixels("backbone.linear_encoder.weight", hidden,
           "vit.embeddings.patch_embeddings.projection.weight"),
    vector("backbone.linear_encoder.bias", hidden,
           "vit.embeddings.patch_embeddings.projection.bias"),
    batch_of_one("backbone.position_embeddings.weight", positions, hidden,
                 "vit.embeddings.position_embeddings"),
};

constexpr Entry kVitAttention[] = {
    vector("backbone.transformer.layers.{}.input_layernorm.weight", hidden,
           "vit.encoder.layer.{}.layernorm_before.weight"),
    vector("backbone.transformer.layers.{}.input_layernorm.bias", hidden,
           "vit.encoder.layer.{}.layernorm_before.bias"),
    joined("backbone.transformer.layers.{}.self_attention.linear_qkv.weight", qkv, hidden,
           {{{"vit.encoder.layer.{}.attention.attention.query.weight", queries},
             {"vit.encoder.layer.{}.attention.attention.key.weight", keys},
             {"vit.encoder.layer.{}.attention.attention.value.weight", keys}}})
        .ordered(Rows::query_groups),
    joined("backbone.transformer.layers.{}.self_attention.linear_qkv.bias", qkv, none,
           {{{"vit.encoder.layer.{}.attention.attention.query.bias", queries},
             {"vit.encoder.layer.{}.attention.attention.key.bias", keys},
             {"vit.encoder.layer.{}.attention.attention.value.bias", keys}}})
        .ordered(Rows::query_groups),
    matrix("backbone.transformer.layers.{}.self_attention.linear_proj.weight", hidden, queries,
           "vit.encoder.layer.{}.attention.output.dense.weight"),
    vector("backbone.transformer.layers.{}.self_attention.linear_proj.bias", hidden,
           "vit.encoder.layer.{}.attention.output.dense.bias"),
};

constexpr Entry kVitMlp[] = {
    vector("backbone.transformer.layers.{}.pre_mlp_layernorm.weight", hidden,
           "vit.encoder.layer.{}.layernorm_after.weight"),
    vector("backbone.transformer.layers.{}.pre_mlp_layernorm.bias", hidden,
           "vit.encoder.layer.{}.layernorm_after.bias"),
    matrix("backbone.transformer.layers.{}.mlp.linear_fc1.weight", ffn, hidden,
           "vit.encoder.layer.{}.intermediate.dense.weight"),
    vector("backbone.transformer.layers.{}.mlp.linear_fc1.bias", ffn,
           "vit.encoder.layer.{}.intermediate.dense.bias"),
    matrix("backbone.transformer.layers.{}.mlp.linear_fc2.weight", hidden, ffn,
           "vit.encoder.layer.{}.output.dense.weight"),
    vector("backbone.transformer.layers.{}.mlp.linear_fc2.bias", hidden,
           "vit.encoder.layer.{}.output.dense.bias"),
};

constexpr Entry kVitEnd[] = {
    vector("backbone.transformer.final_layernorm.weight", hidden, "vit.layernorm.weight"),
    vector("backbone.transformer.final_layernorm.bias", hidden, "vit.layernorm.bias"),
    matrix("head.weight", image_classes, hidden, "classifier.weight"),
    vector("head.bias", image_classes, "classifier.bias"),
};

constexpr EntryBlock kVit[] = {kVitStart, kVitAttention, kVitMlp, kVitEnd};

}  // namespace

std::span<const EntryBlock> vit_names() {
  return kVit;
}

}  // namespace mpitron::convert

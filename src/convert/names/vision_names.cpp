#include "convert/names/vision_names.h"

#include "convert/names/decoder_names.h"

namespace mpitron::convert {
namespace {

using config::ActivationKind;
using config::ModelConfig;
using config::ModelKind;
using config::TowerKind;
using enum Extent;

// The three encoders differ in little but their names; a layer has the same parts.

constexpr Entry kVitStart[] = {
    matrix("cls_token", one, hidden, "vit.embeddings.cls_token").shaped(TheirShape::one_table),
    matrix("linear_encoder.weight", hidden, patch_numbers,
           "vit.embeddings.patch_embeddings.projection.weight")
        .shaped(TheirShape::last_kernel),
    vector("linear_encoder.bias", hidden, "vit.embeddings.patch_embeddings.projection.bias"),
    matrix("position_embeddings.weight", positions, hidden, "vit.embeddings.position_embeddings")
        .shaped(TheirShape::one_table),
};

constexpr Entry kVitLayer[] = {
    vector("transformer.layers.{}.input_layernorm.weight", hidden,
           "vit.encoder.layer.{}.layernorm_before.weight"),
    vector("transformer.layers.{}.input_layernorm.bias", hidden,
           "vit.encoder.layer.{}.layernorm_before.bias"),
    joined("transformer.layers.{}.self_attention.linear_qkv.weight", qkv, hidden,
           {{{"vit.encoder.layer.{}.attention.attention.query.weight", queries},
             {"vit.encoder.layer.{}.attention.attention.key.weight", keys},
             {"vit.encoder.layer.{}.attention.attention.value.weight", keys}}})
        .ordered(Rows::query_groups),
    joined("transformer.layers.{}.self_attention.linear_qkv.bias", qkv, none,
           {{{"vit.encoder.layer.{}.attention.attention.query.bias", queries},
             {"vit.encoder.layer.{}.attention.attention.key.bias", keys},
             {"vit.encoder.layer.{}.attention.attention.value.bias", keys}}})
        .ordered(Rows::query_groups),
    matrix("transformer.layers.{}.self_attention.linear_proj.weight", hidden, queries,
           "vit.encoder.layer.{}.attention.output.dense.weight"),
    vector("transformer.layers.{}.self_attention.linear_proj.bias", hidden,
           "vit.encoder.layer.{}.attention.output.dense.bias"),
    vector("transformer.layers.{}.pre_mlp_layernorm.weight", hidden,
           "vit.encoder.layer.{}.layernorm_after.weight"),
    vector("transformer.layers.{}.pre_mlp_layernorm.bias", hidden,
           "vit.encoder.layer.{}.layernorm_after.bias"),
    matrix("transformer.layers.{}.mlp.linear_fc1.weight", ffn, hidden,
           "vit.encoder.layer.{}.intermediate.dense.weight"),
    vector("transformer.layers.{}.mlp.linear_fc1.bias", ffn,
           "vit.encoder.layer.{}.intermediate.dense.bias"),
    matrix("transformer.layers.{}.mlp.linear_fc2.weight", hidden, ffn,
           "vit.encoder.layer.{}.output.dense.weight"),
    vector("transformer.layers.{}.mlp.linear_fc2.bias", hidden,
           "vit.encoder.layer.{}.output.dense.bias"),
};

constexpr Entry kVitEnd[] = {
    vector("transformer.final_layernorm.weight", hidden, "vit.layernorm.weight"),
    vector("transformer.final_layernorm.bias", hidden, "vit.layernorm.bias"),
};

constexpr Entry kVitHead[] = {
    matrix("dense_out.weight", classes, hidden, "classifier.weight"),
    vector("dense_out.bias", classes, "classifier.bias"),
};

constexpr Entry kClipStart[] = {
    matrix("class_token", one, hidden, "embeddings.class_embedding").shaped(TheirShape::flat),
    vector("ln_pre.weight", hidden, "pre_layrnorm.weight"),
    vector("ln_pre.bias", hidden, "pre_layrnorm.bias"),
};

constexpr Entry kSiglipStart[] = {
    vector("conv1.bias", hidden, "embeddings.patch_embedding.bias"),
    vector("ln_post.weight", hidden, "post_layernorm.weight"),
    vector("ln_post.bias", hidden, "post_layernorm.bias"),
};

constexpr Entry kTowerStart[] = {
    matrix("conv1.weight", hidden, patch_numbers, "embeddings.patch_embedding.weight")
        .shaped(TheirShape::kernel),
    matrix("position_embeddings.weight", positions, hidden,
           "embeddings.position_embedding.weight"),
};

constexpr Entry kTowerLayer[] = {
    vector("decoder.layers.{}.input_layernorm.weight", hidden,
           "encoder.layers.{}.layer_norm1.weight"),
    vector("decoder.layers.{}.input_layernorm.bias", hidden, "encoder.layers.{}.layer_norm1.bias"),
    joined("decoder.layers.{}.self_attention.linear_qkv.weight", qkv, hidden,
           {{{"encoder.layers.{}.self_attn.q_proj.weight", queries},
             {"encoder.layers.{}.self_attn.k_proj.weight", keys},
             {"encoder.layers.{}.self_attn.v_proj.weight", keys}}})
        .ordered(Rows::query_groups),
    joined("decoder.layers.{}.self_attention.linear_qkv.bias", qkv, none,
           {{{"encoder.layers.{}.self_attn.q_proj.bias", queries},
             {"encoder.layers.{}.self_attn.k_proj.bias", keys},
             {"encoder.layers.{}.self_attn.v_proj.bias", keys}}})
        .ordered(Rows::query_groups),
    matrix("decoder.layers.{}.self_attention.linear_proj.weight", hidden, queries,
           "encoder.layers.{}.self_attn.out_proj.weight"),
    vector("decoder.layers.{}.self_attention.linear_proj.bias", hidden,
           "encoder.layers.{}.self_attn.out_proj.bias"),
    vector("decoder.layers.{}.pre_mlp_layernorm.weight", hidden,
           "encoder.layers.{}.layer_norm2.weight"),
    vector("decoder.layers.{}.pre_mlp_layernorm.bias", hidden,
           "encoder.layers.{}.layer_norm2.bias"),
    matrix("decoder.layers.{}.mlp.linear_fc1.weight", ffn, hidden,
           "encoder.layers.{}.mlp.fc1.weight"),
    vector("decoder.layers.{}.mlp.linear_fc1.bias", ffn, "encoder.layers.{}.mlp.fc1.bias"),
    matrix("decoder.layers.{}.mlp.linear_fc2.weight", hidden, ffn,
           "encoder.layers.{}.mlp.fc2.weight"),
    vector("decoder.layers.{}.mlp.linear_fc2.bias", hidden, "encoder.layers.{}.mlp.fc2.bias"),
};

constexpr Entry kProjector[] = {
    matrix("linear_fc1.weight", ffn, projector_inputs, "linear_1.weight"),
    vector("linear_fc1.bias", ffn, "linear_1.bias"),
    matrix("linear_fc2.weight", hidden, ffn, "linear_2.weight"),
    vector("linear_fc2.bias", hidden, "linear_2.bias"),
};

constexpr EntryBlock kVitBackbone[] = {kVitStart, kVitLayer, kVitEnd};
constexpr EntryBlock kVitHeads[] = {kVitHead};
constexpr EntryBlock kClip[] = {kTowerStart, kClipStart, kTowerLayer};
constexpr EntryBlock kSiglip[] = {kTowerStart, kSiglipStart, kTowerLayer};
constexpr EntryBlock kProjectors[] = {kProjector};

ModelDescription projector_description(const ModelDescription& description) {
  ModelDescription result = description;
  if (const auto& sizes = description.model.vlm->projector_sizes) {
    result.model.ffn_hidden_size = sizes->ffn_hidden_size;
  }
  return result;
}

Needs vit(const ModelConfig& m) {
  const bool right_kind = m.kind == ModelKind::vit;
  return {{right_kind, "--model vit"},
          {m.vision.task == config::VisionTask::classify && m.vision.linear_head,
           "--classifier-head linear"},
          {m.vision.class_tokens == 1, "--class-token-length 1"},
          {m.normalization == config::Normalization::layer_norm, "--normalization LayerNorm"},
          {!m.gated_linear_unit && m.add_bias_linear, "no --swiglu, biases"},
          {m.num_query_groups == m.num_attention_heads, "no --group-query-attention"}};
}

/// An encoder alone: a model without words.
Needs tower_alone(const ModelConfig& m, TowerKind tower) {
  const bool images = m.kind == ModelKind::vlm && m.vlm.has_value();
  return {{images, "--model vlm"},
          {images && m.vlm->tower == tower, tower == TowerKind::clip
                                                ? "--vision-model-type clip"
                                                : "--vision-model-type siglip"},
          {m.padded_vocab_size == 0, "no language model"}};
}

Needs clip_alone(const ModelConfig& m) {
  return tower_alone(m, TowerKind::clip);
}

Needs siglip_alone(const ModelConfig& m) {
  return tower_alone(m, TowerKind::siglip);
}

/// Which the encoder's last layer reads, or nobody.
std::vector<std::string> behind_the_tower(const ModelConfig& m) {
  return {"vision_tower.vision_model.post_layernorm.",
          "vision_tower.vision_model.encoder.layers." + std::to_string(m.vlm->tower_layers) + "."};
}

}  // namespace

ModelDescription tower_description(const ModelDescription& description) {
  ModelDescription result = description;
  ModelConfig& m = result.model;
  const config::VlmConfig& vlm = *description.model.vlm;
  m.num_layers = vlm.tower_layers;
  m.max_position_embeddings = vlm.tower_positions();
  m.position_embedding_type = config::PositionEmbedding::none;
  m.vision.patch = vlm.patch;
  if (const auto& sizes = vlm.tower_sizes) {
    m.hidden_size = sizes->hidden_size;
    m.num_attention_heads = m.num_query_groups = sizes->heads;
    m.kv_channels = sizes->head_size;
    m.ffn_hidden_size = sizes->ffn_hidden_size;
    m.gated_linear_unit = false;
  }
  return result;
}

Family vit_family() {
  return {.model_type = "vit",
          .parts = {{kVitBackbone, "backbone.", ""}, {kVitHeads, "head.", ""}},
          .needs = vit,
          .unused = [](const ModelConfig&) { return std::vector<std::string>{"vit.pooler."}; }};
}

Family clip_vision_family() {
  return {.model_type = "clip_vision_model",
          .parts = {{kClip, "vision_model.", "vision_model.", tower_description}},
          .needs = clip_alone,
          .unused = [](const ModelConfig&) {
            return std::vector<std::string>{"vision_model.post_layernorm.",
                                            "vision_model.embeddings.position_ids"};
          }};
}

Family siglip_vision_family() {
  return {.model_type = "siglip_vision_model",
          .parts = {{kSiglip, "vision_model.", "vision_model.", tower_description}},
          .needs = siglip_alone,
          .unused = [](const ModelConfig&) {
            return std::vector<std::string>{"vision_model.head.",
                                            "vision_model.embeddings.position_ids"};
          }};
}

namespace {

/// Set once: the needs of a Llama.
Needs (*language_model_needs)(const ModelConfig& model) = nullptr;

Needs llava(const ModelConfig& m) {
  const bool images = m.kind == ModelKind::vlm && m.vlm.has_value();
  Needs needs = {{images, "--model vlm"}};
  if (!images) {
    return needs;
  }
  const config::VlmConfig& vlm = *m.vlm;
  needs = language_model_needs(m);
  const bool gelu = vlm.projector_sizes && vlm.projector_sizes->ffn_hidden_size == m.hidden_size &&
                    vlm.projector_sizes->activation == ActivationKind::gelu_erf;
  needs.insert(needs.end(),
               {{m.padded_vocab_size > 0, "a language model"},
                {vlm.tower == TowerKind::clip, "--vision-model-type clip"},
                {vlm.tower_sizes.has_value(), "--vision-hidden-size and so on"},
                {!vlm.class_token, "--disable-vision-class-token"},
                {!vlm.pixel_shuffle, "no --pixel-shuffle"},
                {vlm.projector == config::ProjectorKind::mlp, "--vision-projection-type mlp"},
                {gelu, "--vision-projection-ffn-hidden-size, that of the language model"}});
  return needs;
}

}  // namespace

Family llava_family(Needs (*language_model)(const ModelConfig& model)) {
  language_model_needs = language_model;
  return {.model_type = "llava",
          .parts = {{llama_names(), "language_model.", "language_model."},
                    {kClip, "vision_model.", "vision_tower.vision_model.", tower_description},
                    {kProjectors, "vision_projection.encoder.", "multi_modal_projector.",
                     projector_description}},
          .needs = llava,
          .words = "language_model.model.embed_tokens.weight",
          .tied = {"language_model.lm_head.weight"},
          .unused = behind_the_tower};
}

}  // namespace mpitron::convert

#include "convert/names/name_families.h"

#include <algorithm>

#include <fmt/ranges.h>

#include "convert/description/encoder_config.h"
#include "convert/names/family_needs.h"

// Decides which models a family can hold. Needs are told with the option that meets them, so that a
// model which does not fit says what would have to be different.

namespace mpitron::convert {
namespace {

using config::ActivationKind;
using config::ModelConfig;
using config::ModelKind;
using config::MoeConfig;
using config::Normalization;
using config::PositionEmbedding;

/// Epsilon of Hugging Face's latent norms, whatever config.json says.
constexpr double kLatentEpsilon = 1e-6;
/// Epsilon of the norm in a Mamba mixer here; theirs have the layers'.
constexpr double kGatedEpsilon = 1e-5;

Needs of_kind(const ModelConfig& m, ModelKind kind) {
  Needs needs = in_any_family(m, kind);
  append(needs, rotating_layers(m));
  append(needs, norms_in_front(m));
  append(needs, classic_layers(m));
  append(needs, unlimited(m));
  return needs;
}

/// Needs of self attention and an MLP in each layer.
Needs dense(const ModelConfig& m) {
  return {{!m.moe, "no --num-experts"},
          {!m.multi_latent_attention, "no --multi-latent-attention"},
          {!m.qk_layernorm, "no --qk-layernorm"}};
}

/// Needs of GPT-2, BERT and ViT: learned positions, norms and linear layers with biases, as many
/// keys as queries.
Needs classic(const ModelConfig& m) {
  return {{m.position_embedding_type == PositionEmbedding::learned_absolute,
           "--position-embedding-type learned_absolute"},
          {m.normalization == Normalization::layer_norm, "--normalization LayerNorm"},
          {!m.gated_linear_unit, "no --swiglu"},
          {m.add_bias_linear, "biases in all linear layers"},
          {m.num_query_groups == m.num_attention_heads, "no --group-query-attention"},
          {m.kv_channels * m.num_attention_heads == m.hidden_size, "kv_channels = hidden / heads"}};
}

Needs gelu(const ModelConfig& m) {
  const bool either =
      m.activation == ActivationKind::gelu_tanh || m.activation == ActivationKind::gelu_erf;
  return {{either, "a GELU"}};
}

Needs gpt2(const ModelConfig& m) {
  Needs needs = of_kind(m, ModelKind::gpt);
  append(needs, dense(m));
  append(needs, classic(m));
  append(needs, gelu(m));
  return needs;
}

/// Biases that a family's linear layers can have; config.json of Llama has a flag for all of them,
/// Mistral and Mixtral have none, Qwen2 always has those of queries, keys and values.
enum class Biases { none, all_or_none, queries };

Needs like_llama(const ModelConfig& m, Biases biases, ModelKind kind = ModelKind::gpt) {
  Needs needs = of_kind(m, kind);
  append(needs, modern(m));
  append(needs, whole_heads(m));
  append(needs, {{!m.multi_latent_attention, "no --multi-latent-attention"},
                 {!m.qk_layernorm, "no --qk-layernorm"},
                 {m.rope_type == config::RopeType::rope, "--rope-type rope"},
                 {!m.add_bias_linear || biases == Biases::all_or_none, "--disable-bias-linear"},
                 {m.add_bias_linear || m.add_qkv_bias == (biases == Biases::queries),
                  biases == Biases::queries ? "--add-qkv-bias" : "no --add-qkv-bias"}});
  return needs;
}

Needs llama(const ModelConfig& m) {
  Needs needs = like_llama(m, Biases::all_or_none);
  append(needs, dense(m));
  return needs;
}

/// Needs of LLaVA: Llama behind CLIP's encoder of whole images, and two layers between them (Liu et
/// al. 2023).
Needs llava(const ModelConfig& m) {
  Needs needs = like_llama(m, Biases::all_or_none, ModelKind::vlm);
  append(needs, dense(m));
  if (!m.vlm) {
    return needs;
  }
  const config::VlmConfig& vlm = *m.vlm;
  append(needs, {{vlm.tower == config::TowerKind::clip, "--vision-model-type clip"},
                 {vlm.tower_sizes.has_value(), "--vision-hidden-size"},
                 {vlm.projector == config::ProjectorKind::mlp && vlm.projector_sizes &&
                      vlm.projector_sizes->ffn_hidden_size == m.hidden_size,
                  "--vision-projection-ffn-hidden-size of the hidden size"},
                 {!vlm.pixel_shuffle, "no --pixel-shuffle"},
                 {!vlm.sees_whole_images, "no --bidirectional-image-attention"},
                 {vlm.most_tiles() == 1 && !vlm.tiling.tags, "no --use-tiling"},
                 {vlm.image_tags == config::ImageTags::none, "no --image-tag-type"}});
  return needs;
}

Needs mistral(const ModelConfig& m) {
  Needs needs = like_llama(m, Biases::none);
  append(needs, dense(m));
  return needs;
}

Needs qwen2(const ModelConfig& m) {
  Needs needs = like_llama(m, Biases::queries);
  append(needs, dense(m));
  return needs;
}

/// Needs of Qwen2-VL's language model: Qwen2 whose frequencies turn by three axes.
Needs on_three_axes(const ModelConfig& m, ModelKind kind) {
  ModelConfig one_axis = m;
  one_axis.mrope_section.clear();
  Needs needs = like_llama(one_axis, Biases::queries, kind);
  append(needs, dense(m));
  append(needs, {{!m.mrope_section.empty(), "--position-embedding-type mrope"}});
  return needs;
}

Needs qwen2_vl_text(const ModelConfig& m) {
  return on_three_axes(m, ModelKind::gpt);
}

/// Needs of Qwen2-VL: four patches become one position, by an MLP of their width (Wang et al.
/// 2024).
Needs qwen2_vl(const ModelConfig& m) {
  Needs needs = on_three_axes(m, ModelKind::vlm);
  if (!m.vlm) {
    return needs;
  }
  const config::VlmConfig& vlm = *m.vlm;
  const auto& sizes = vlm.tower_sizes;
  append(needs, {{vlm.tower == config::TowerKind::qwen2_vl, "--vision-model-type qwen2_vl"},
                 {sizes && sizes->heads * sizes->head_size == sizes->hidden_size &&
                      sizes->ffn_hidden_size % sizes->hidden_size == 0 &&
                      sizes->norm_epsilon == kQwen2VlEpsilon,
                  "--vision-hidden-size, an inner width of a multiple, --vision-norm-epsilon 1e-6"},
                 {vlm.projector == config::ProjectorKind::mlp && sizes && vlm.projector_sizes &&
                      vlm.projector_sizes->ffn_hidden_size == 4 * sizes->hidden_size,
                  "--vision-projection-ffn-hidden-size of four times the encoder's width"},
                 {vlm.pixel_shuffle, "--pixel-shuffle"},
                 {!vlm.sees_whole_images, "no --bidirectional-image-attention"},
                 {vlm.image_tags == config::ImageTags::qwen2_vl, "--image-tag-type qwen2_vl"}});
  return needs;
}

/// Returns whether dense layers come first and at least one layer has experts.
bool experts_come_last(const MoeConfig& moe) {
  return std::ranges::is_sorted(moe.layers) && moe.count_layers() > 0;
}

Needs mixtral(const ModelConfig& m) {
  Needs needs = like_llama(m, Biases::none);
  append(needs, experts_everywhere(m, false));
  return needs;
}

Needs deepseek_v2(const ModelConfig& m) {
  Needs needs = of_kind(m, ModelKind::gpt);
  append(needs, modern(m));
  append(needs, whole_heads(m));
  append(needs, {{m.multi_latent_attention, "--multi-latent-attention"},
                 {!m.indexer, "no --experimental-attention-variant dsa"},
                 {m.qk_layernorm, "--qk-layernorm"},
                 {m.norm_epsilon == kLatentEpsilon, "--norm-epsilon 1e-6"},
                 {!m.add_bias_linear && !m.add_qkv_bias, "--disable-bias-linear"}});
  if (!m.moe) {
    append(needs, {{false, "--num-experts"}});
    return needs;
  }
  const MoeConfig& moe = *m.moe;
  const Index groups = moe.num_groups.value_or(1), kept = moe.group_topk.value_or(1);
  append(needs, plain_routing(moe));
  append(needs, {{experts_come_last(moe), "dense layers in front of those with experts"},
                 {moe.shared_expert_intermediate_size > 0 &&
                      moe.shared_expert_intermediate_size % moe.ffn_hidden_size == 0,
                  "--moe-shared-expert-intermediate-size of whole experts"},
                 {moe.pre_softmax, "--moe-router-pre-softmax"},
                 {groups == 1 || moe.topk / kept == 1,
                  "groups that count by their best expert (topk = group topk)"}});
  return needs;
}

/// Needs of ViT: classes of square images by one layer behind the one class token.
Needs vit(const ModelConfig& m) {
  Needs needs = of_kind(m, ModelKind::vit);
  append(needs, dense(m));
  append(needs, classic(m));
  append(needs, gelu(m));
  const config::VisionConfig& vision = m.vision;
  append(needs,
         {{vision.task == config::VisionTask::classify, "--vision-pretraining-type classify"},
          {vision.class_tokens == 1, "--class-token-length 1"},
          {vision.linear_head, "--class-head linear"},
          {vision.image_height == vision.image_width, "square images (--img-h, --img-w)"}});
  return needs;
}

bool has_only(const std::string& pattern, std::string_view letters) {
  return pattern.find_first_not_of(letters) == std::string::npos;
}

/// Needs of layers of one branch; the gated norms have an epsilon of their own here.
Needs by_letters(const ModelConfig& m) {
  Needs needs = of_kind(m, ModelKind::mamba);
  append(needs, dense(m));
  append(needs,
         {{m.normalization == Normalization::rms_norm, "--normalization RMSNorm"},
          {m.norm_epsilon == kGatedEpsilon, "--norm-epsilon 1e-5"},
          {m.position_embedding_type == PositionEmbedding::none, "--position-embedding-type none"},
          {!m.add_bias_linear && !m.add_qkv_bias, "--disable-bias-linear"}});
  return needs;
}

Needs mamba2(const ModelConfig& m) {
  Needs needs = by_letters(m);
  append(needs, {{has_only(m.hybrid.pattern, "M"), "a pattern of M alone"},
                 {m.hybrid.mamba.groups == 1, "--mamba-num-groups 1"},
                 {m.hybrid.mamba.width() % m.hidden_size == 0, "a whole expansion of the width"}});
  return needs;
}

Needs nemotron_h(const ModelConfig& m) {
  Needs needs = by_letters(m);
  append(needs, {{has_only(m.hybrid.pattern, "M*-"), "a pattern of M, * and -"},
                 {m.activation == ActivationKind::squared_relu && !m.gated_linear_unit,
                  "--squared-relu"}});
  return needs;
}

Needs megatron_bert(const ModelConfig& m) {
  Needs needs = of_kind(m, ModelKind::bert);
  append(needs, dense(m));
  append(needs, classic(m));
  // The head's function is the exact one here, and the layers' one there.
  append(needs, {{m.activation == ActivationKind::gelu_erf, "--no-bias-gelu-fusion (exact GELU)"},
                 {m.bert_binary_head, "the binary head (no --bert-no-binary-head)"},
                 {!m.untie_embeddings_and_output_weights, "a tied output matrix"}});
  return needs;
}

/// Returns whether the root of the width is a power of two: scaling by it changes exponents only.
bool is_power_of_four(Index channels) {
  while (channels > 1 && channels % 4 == 0) {
    channels /= 4;
  }
  return channels == 1;
}

/// Needs of T5 with a gated MLP. Theirs has no scale of attention; the scale goes into the queries,
/// which keeps all bits only for a power of two: the root of the heads' width.
Needs t5(const ModelConfig& m) {
  Needs needs = of_kind(m, ModelKind::t5);
  append(needs, dense(m));
  append(needs,
         {{m.position_embedding_type == PositionEmbedding::relative,
           "--position-embedding-type relative"},
          {m.normalization == Normalization::rms_norm, "--normalization RMSNorm"},
          {m.gated_linear_unit && m.activation == ActivationKind::silu, "--swiglu"},
          {!m.add_bias_linear && !m.add_qkv_bias, "--disable-bias-linear"},
          {m.untie_embeddings_and_output_weights, "--untie-embeddings-and-output-weights"},
          {m.num_query_groups == m.num_attention_heads, "no --group-query-attention"},
          {is_power_of_four(m.kv_channels), "heads whose width is a power of 4 (16, 64, 256)"}});
  return needs;
}

/// Files of the first releases leave the prefix out.
constexpr Spelling kGpt2Spellings[] = {{"transformer.", ""}};
/// Newer releases have one model in front of the output matrix, and no part between a tower and
/// its layers; files of some of them have their names.
constexpr Spelling kImageSpellings[] = {
    {"vision_tower.vision_model.", "vision_tower."},
    {"vision_tower.vision_model.", "model.vision_tower.vision_model."},
    {"vision_tower.vision_model.", "model.vision_tower."},
    {"multi_modal_projector.", "model.multi_modal_projector."},
    {"language_model.model.", "model.language_model."},
    {"language_model.lm_head.", "lm_head."}};

constexpr Spelling kQwen2VlSpellings[] = {{"model.", "model.language_model."},
                                          {"visual.", "model.visual."}};
constexpr const char* kQwen2VlTower[] = {"visual.", "model.visual."};

/// Names of the language model where it stands beside an encoder.
constexpr Spelling kLlama4Spellings[] = {{"model.", "language_model.model."},
                                         {"lm_head.", "language_model.lm_head."}};
constexpr const char* kLlama4Sees[] = {"vision_model.", "multi_modal_projector."};

/// All families. The order decides which one a model is written as that fits several.
const std::vector<Family>& all() {
  constexpr const char *kLlamaWords = "model.embed_tokens.weight", *kOutput = "lm_head.weight";
  constexpr const char* kMambaWords = "backbone.embeddings.weight";
  static const std::vector<Family> kAll = {
      {.model_type = "gpt2",
       .names = gpt2_names(),
       .needs = gpt2,
       .words = "transformer.wte.weight",
       .tied = {kOutput},
       .spellings = kGpt2Spellings},
      {"llama", llama_names(), llama, kLlamaWords, {kOutput}},
      {"mistral", llama_names(), mistral, kLlamaWords, {kOutput}},
      {"qwen2", llama_names(), qwen2, kLlamaWords, {kOutput}},
      {.model_type = "qwen2_vl_text",
       .names = llama_names(),
       .needs = qwen2_vl_text,
       .words = kLlamaWords,
       .tied = {kOutput},
       .spellings = kQwen2VlSpellings,
       .left_out = kQwen2VlTower},
      {"mixtral", mixtral_names(), mixtral, kLlamaWords, {kOutput}},
      {"deepseek_v2", deepseek_v2_names(), deepseek_v2, kLlamaWords, {kOutput}},
      {.model_type = "gpt_oss",
       .names = gpt_oss_names(),
       .needs = gpt_oss,
       .words = kLlamaWords,
       .tied = {kOutput},
       .stacked_experts = GateColumns::in_turn},
      {"gemma2", gemma2_names(), gemma2, kLlamaWords, {kOutput}},
      {"gemma3_text", gemma3_names(), gemma3, kLlamaWords, {kOutput}},
      {.model_type = "llama4_text",
       .names = llama4_names(),
       .needs = llama4,
       .words = kLlamaWords,
       .tied = {kOutput},
       .spellings = kLlama4Spellings,
       .left_out = kLlama4Sees,
       .stacked_experts = GateColumns::halves},
      {"qwen3_next", qwen3_next_names(), qwen3_next, kLlamaWords, {kOutput}},
      {"mamba2", mamba2_names(), mamba2, kMambaWords, {kOutput}},
      {"nemotron_h", nemotron_h_names(), nemotron_h, kMambaWords, {kOutput}},
      {.model_type = "megatron-bert",
       .names = megatron_bert_names(),
       .needs = megatron_bert,
       .words = "bert.embeddings.word_embeddings.weight",
       .tied = {"cls.predictions.decoder.weight"},
       .copies = {{"cls.predictions.decoder.bias", "cls.predictions.bias"}}},
      {.model_type = "t5",
       .names = t5_names(),
       .needs = t5,
       .words = "shared.weight",
       .copies = {{"encoder.embed_tokens.weight", "shared.weight"},
                  {"decoder.embed_tokens.weight", "shared.weight"}}},
      {.model_type = "llava",
       .names = llava_projector_names(),
       .needs = llava,
       .words = "language_model.model.embed_tokens.weight",
       .tied = {"language_model.lm_head.weight"},
       .spellings = kImageSpellings,
       .tower = clip_names(),
       .language = llama_names()},
      {.model_type = "gemma3",
       .names = gemma3_projector_names(),
       .needs = gemma3_images,
       .words = "language_model.model.embed_tokens.weight",
       .tied = {"language_model.lm_head.weight"},
       .spellings = kImageSpellings,
       .tower = siglip_names(),
       .language = gemma3_names()},
      {.model_type = "qwen2_vl",
       .names = qwen2_vl_merger_names(),
       .needs = qwen2_vl,
       .words = kLlamaWords,
       .tied = {kOutput},
       .spellings = kQwen2VlSpellings,
       .tower = qwen2_vl_tower_names(),
       .language = llama_names(),
       .their_language = ""},
      {.model_type = "llama4",
       .names = llama4_adapter_names(),
       .needs = llama4_images,
       .words = "language_model.model.embed_tokens.weight",
       .tied = {"language_model.lm_head.weight"},
       .stacked_experts = GateColumns::halves,
       .tower = llama4_tower_names(),
       .language = llama4_names()},
      {.model_type = "vit", .names = vit_names(), .needs = vit, .words = nullptr},
  };
  return kAll;
}

}  // namespace

std::span<const Family> families() {
  return all();
}

std::string obstacle(const Family& family, const ModelConfig& m) {
  std::vector<std::string> missing;
  for (const auto& [met, what] : family.needs(m)) {
    if (!met) {
      missing.push_back(what);
    }
  }
  return fmt::format("{}", fmt::join(missing, ", "));
}

}  // namespace mpitron::convert

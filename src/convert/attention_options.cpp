#include "convert/attention_options.h"

#include <utility>

namespace mpitron::convert {

using config::ModelConfig;
using config::PositionEmbedding;
using config::RopeType;

namespace {

constexpr std::pair<const char*, Index ModelConfig::*> kRelativeIntegers[] = {
    {"relative_attention_num_buckets", &ModelConfig::relative_attention_num_buckets},
    {"relative_attention_max_distance", &ModelConfig::relative_attention_max_distance},
};
constexpr std::pair<const char*, Index ModelConfig::*> kLatentIntegers[] = {
    {"kv_lora_rank", &ModelConfig::kv_lora_rank},
    {"qk_head_dim", &ModelConfig::qk_head_dim},
    {"qk_pos_emb_head_dim", &ModelConfig::qk_pos_emb_head_dim},
    {"v_head_dim", &ModelConfig::v_head_dim},
};
constexpr std::pair<const char*, double ModelConfig::*> kYarnReals[] = {
    {"rotary_scaling_factor", &ModelConfig::rotary_scaling_factor},
    {"mscale", &ModelConfig::mscale},
    {"mscale_all_dim", &ModelConfig::mscale_all_dim},
};
constexpr std::pair<const char*, PositionEmbedding> kPositions[] = {
    {"learned_absolute", PositionEmbedding::learned_absolute},
    {"rope", PositionEmbedding::rope},
    {"relative", PositionEmbedding::relative},
    {"none", PositionEmbedding::none}};
constexpr std::pair<const char*, RopeType> kRopeTypes[] = {{"rope", RopeType::rope},
                                                           {"yarn", RopeType::yarn}};
constexpr const char* kInterpolation = "rotary_seq_len_interpolation_factor";

void write_latents(const ModelConfig& model, JsonObject& json) {
  json.set("multi_latent_attention", true);
  if (model.q_lora_rank) {
    json.set("q_lora_rank", *model.q_lora_rank);
  }
  write_all(kLatentIntegers, model, json);
}

}  // namespace

void read_attention(const StoredOptions& options, ModelConfig& model) {
  options.choose("position_embedding_type", kPositions, model.position_embedding_type);
  options.read(kInterpolation, model.rotary_seq_len_interpolation_factor);
  options.read_all(kRelativeIntegers, model);
  model.multi_latent_attention = options.flag("multi_latent_attention");
  if (model.multi_latent_attention) {
    model.rope_type = RopeType::yarn;
    options.read("q_lora_rank", model.q_lora_rank);
    options.read_all(kLatentIntegers, model);
  }
  options.choose("rope_type", kRopeTypes, model.rope_type);
  options.read_all(kYarnReals, model);
  check_sizes(kRelativeIntegers, model, 1, options.source());
  check_sizes(kLatentIntegers, model, 1, options.source());
}

void write_attention(const ModelConfig& model, JsonObject& json) {
  write_choice("position_embedding_type", kPositions, model.position_embedding_type, json);
  if (model.rotary_seq_len_interpolation_factor) {
    json.set(kInterpolation, *model.rotary_seq_len_interpolation_factor);
  }
  if (model.multi_latent_attention || model.rope_type == RopeType::yarn) {
    write_choice("rope_type", kRopeTypes, model.rope_type, json);
    write_all(kYarnReals, model, json);
  }
  if (model.position_embedding_type == PositionEmbedding::relative) {
    write_all(kRelativeIntegers, model, json);
  }
  if (model.multi_latent_attention) {
    write_latents(model, json);
  }
}

}  // namespace mpitron::convert

#pragma once
#include <algorithm>

#include "config/attention_config.h"
#include "config/hybrid_config.h"
#include "config/lora_config.h"
#include "config/model_family.h"
#include "config/moe_config.h"
#include "config/position_config.h"
#include "config/precision_config.h"
#include "config/recompute_config.h"
#include "config/residual_config.h"
#include "config/size_config.h"
#include "config/teacher_config.h"
#include "config/text_task.h"
#include "config/vision_config.h"

namespace mpitron::config {

/// The transformer, resolved: no field needs another default. Names are the reference's. Who needs
/// one part takes that: a ModelConfig is each of them.
struct ModelConfig : SizeConfig,
                     AttentionConfig,
                     LatentConfig,
                     PositionConfig,
                     ResidualConfig,
                     ActivationConfig,
                     InitializationConfig,
                     PrecisionConfig,
                     RecomputeConfig {
  ModelKind kind = ModelKind::gpt;
  HybridConfig hybrid;
  std::optional<MoeConfig> moe;    // absent: no layer has experts
  std::optional<LoraConfig> lora;  // absent: every parameter that is not frozen is trained
  FrozenParts frozen;
  VisionConfig vision;           // of models of images
  std::optional<VlmConfig> vlm;  // of models of texts with images

  // With sequence parallelism: products run on pieces of the sequence while others travel.
  bool tp_comm_overlap = false;

  // multi-token prediction
  std::optional<Index> mtp_num_layers;
  double mtp_loss_scaling_factor = 0.1;

  std::optional<PreferenceConfig> preference;      // what is learned of pairs of answers
  std::optional<DistillationConfig> distillation;  // and of a teacher

  std::optional<TextHead> text_head;  // instead of what makes words of the layers' output

  // BERT: with the head that tells whether two parts are in order, and the loss of it.
  bool bert_binary_head = true;

  const ModelFamily& family() const { return family_of(kind); }
  /// Samples that this model learns from: those of its family, or whole texts.
  SampleKind samples() const { return text_head ? SampleKind::labelled_texts : family().samples; }
  /// Layers of the whole model: of a T5 those of encoder and decoder.
  Index all_layers() const { return family().encoder_decoder ? 2 * num_layers : num_layers; }
  /// Layers of a depth of multi-token prediction; depths are numbered as layers behind the last
  /// one.
  Index depth_layers() const {
    return std::max<Index>(1, static_cast<Index>(hybrid.depth_pattern.size()));
  }
  Index layers_and_depths() const {
    return all_layers() + mtp_num_layers.value_or(0) * depth_layers();
  }
  /// Width of the part of a head that rotary positions turn, before rotary_percent.
  Index rotary_head_dim() const {
    return multi_latent_attention ? qk_pos_emb_head_dim : kv_channels;
  }
  /// Latent attention turns a part of its heads whatever the other positions are.
  bool has_rotary_positions() const {
    return multi_latent_attention || position_embedding_type == PositionEmbedding::rope;
  }
};

}  // namespace mpitron::config

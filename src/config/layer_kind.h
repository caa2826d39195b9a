#pragma once
#include "config/model_config.h"

namespace mpitron::config {

/// The two halves of a transformer layer.
struct LayerKind {
  enum class Attention { self, latent, self_and_cross } attention = Attention::self;
  enum class FeedForward { mlp, experts } feed_forward = FeedForward::mlp;
};

/// What the flags make of layer `number`, 1-based and global; T5 counts those of its decoder behind
/// those of its encoder. Layers behind the last one (those of
/// multi-token prediction) are as the last one.
LayerKind layer_kind(const ModelConfig& model, Index number);

/// Whether a layer of a model with rotary positions rotates (--no-rope-freq); `number` as above. A
/// depth of multi-token prediction does as the first layer: the reference's has its number
/// (MultiTokenPredictionLayer gives its transformer layer none).
bool rotates(const ModelConfig& model, Index number);

/// "self attention", "latent attention", "self and cross"; "mlp", "experts".
const char* to_string(LayerKind::Attention attention);
const char* to_string(LayerKind::FeedForward feed_forward);

}  // namespace mpitron::config

#pragma once
#include "config/model_config.h"

namespace mpitron::config {

/// The two halves of a transformer layer.
struct LayerKind {
  enum class Attention { self, latent } attention = Attention::self;
  enum class FeedForward { mlp, experts } feed_forward = FeedForward::mlp;
};

/// What the flags make of layer `number`, 1-based and global. Layers behind the last one (those of
/// multi-token prediction) are as the last one.
LayerKind layer_kind(const ModelConfig& model, Index number);

/// "self attention", "latent attention"; "mlp", "experts".
const char* to_string(LayerKind::Attention attention);
const char* to_string(LayerKind::FeedForward feed_forward);

}  // namespace mpitron::config

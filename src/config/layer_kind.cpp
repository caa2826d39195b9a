#include "config/layer_kind.h"

#include <algorithm>

namespace mpitron::config {

LayerKind layer_kind(const ModelConfig& model, Index number) {
  LayerKind kind;
  if (model.multi_latent_attention) {
    kind.attention = LayerKind::Attention::latent;
  }
  if (model.kind == ModelKind::t5 && number > model.num_layers) {
    kind.attention = LayerKind::Attention::self_and_cross;
  }
  const auto place = static_cast<std::size_t>(std::min(number, model.num_layers) - 1);
  if (model.moe && place < model.moe->layers.size() && model.moe->layers[place]) {
    kind.feed_forward = LayerKind::FeedForward::experts;
  }
  return kind;
}

bool rotates(const ModelConfig& model, Index number) {
  return model.rotates(number <= model.num_layers ? number : 1);
}

const char* to_string(LayerKind::Attention attention) {
  switch (attention) {
    case LayerKind::Attention::latent:
      return "latent attention";
    case LayerKind::Attention::self_and_cross:
      return "self and cross";
    case LayerKind::Attention::self:
      break;
  }
  return "self attention";
}

const char* to_string(LayerKind::FeedForward feed_forward) {
  return feed_forward == LayerKind::FeedForward::experts ? "experts" : "mlp";
}

}  // namespace mpitron::config

#include "plan/model/model_work.h"

#include <algorithm>

// Describes each kind of layer of a model once, by the rows of nn/layers, and counts weights:
// models have many layers and few kinds of them.

namespace mpitron::plan {
namespace {

/// Sums the weights of products, either of one expert or of what every token meets.
double sum_of(const nn::LayerWork& work, bool experts) {
  double sum = 0;
  for (const nn::ProductWork& product : work.products) {
    sum += product.of_experts == experts ? product.weights() : 0;
  }
  return sum;
}

LayerKind kind_of(const config::ModelConfig& model, Index number) {
  LayerKind kind{.spec = config::layer_spec(model, number),
                 .narrow = model.fp8 && model.fp8->has(number, model.all_layers()),
                 .mixer = {},
                 .feed_forward = {}};
  kind.spec.rotates = true;  // costs nothing that is told
  kind.mixer = nn::mixer_work(model, kind.spec);
  kind.feed_forward = nn::feed_forward_work(model, kind.spec);
  kind.drops_feed_forward = nn::row_of(kind.spec.feed_forward).recompute;
  return kind;
}

}  // namespace

double LayerKind::dense_weights() const {
  return sum_of(mixer, false) + sum_of(feed_forward, false);
}

double LayerKind::expert_weights() const {
  return sum_of(feed_forward, true);
}

ModelWork::ModelWork(const config::ModelConfig& model)
    : layers_(model.all_layers()), depth_layers_(model.depth_layers()) {
  const Index experts = model.moe ? model.moe->num_experts : 0;
  const Index visits = model.moe ? model.moe->topk : 0;
  const auto h = static_cast<double>(model.hidden_size);
  for (Index number = 1; number <= model.layers_and_depths(); ++number) {
    LayerKind kind = kind_of(model, number);
    const auto known = std::ranges::find(kinds_, kind);
    order_.push_back(static_cast<std::size_t>(known - kinds_.begin()));
    const bool first = number > layers_ && (number - layers_ - 1) % depth_layers_ == 0;
    const double glue = first ? 2 * h * h : 0;  // of a depth
    weights_ += kind.dense_weights() + glue + static_cast<double>(experts) * kind.expert_weights();
    active_weights_ +=
        kind.dense_weights() + glue + static_cast<double>(visits) * kind.expert_weights();
    if (known == kinds_.end()) {
      kinds_.push_back(std::move(kind));
    }
  }
}

double ModelWork::full_scores(double sequence) const {
  double sum = 0;
  for (const std::size_t kind : order_) {
    if (const auto& scores = kinds_[kind].mixer.scores) {
      sum += sequence * static_cast<double>(scores->heads) *
             static_cast<double>(scores->key_width + scores->value_width);
    }
  }
  return sum;
}

}  // namespace mpitron::plan

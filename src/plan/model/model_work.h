#pragma once
#include <vector>

#include "nn/layers/layer_rows.h"

namespace mpitron::plan {

/// A layer as far as time and memory depend on it: its two halves by their rows.
struct LayerKind {
  config::LayerSpec spec;
  bool narrow = false;  // products in 8 bits
  nn::LayerWork mixer;
  nn::LayerWork feed_forward;
  config::RecomputeModule drops_feed_forward = config::RecomputeModule::mlp;  // as a whole

  double dense_weights() const;
  double expert_weights() const;  // of one expert
  bool operator==(const LayerKind& other) const {
    return spec == other.spec && narrow == other.narrow;
  }
};

/// The layers of a model, each kind described once (nn/layers/layer_rows.h).
class ModelWork {
 public:
  explicit ModelWork(const config::ModelConfig& model);

  const std::vector<LayerKind>& kinds() const { return kinds_; }
  /// Returns the place in `kinds` of layer `number`, from 1; layers behind the last one are those
  /// of depths of prediction.
  std::size_t kind(Index number) const { return order_[static_cast<std::size_t>(number - 1)]; }
  Index layers() const { return layers_; }
  Index depths() const { return (static_cast<Index>(order_.size()) - layers_) / depth_layers_; }
  Index depth_layers() const { return depth_layers_; }  // of one depth

  /// Weights of all layers, depths included, without embeddings (norms and biases are below a
  /// promille and left out), and those that a token meets.
  double weights() const { return weights_; }
  double active_weights() const { return active_weights_; }
  /// Returns the multiply-adds of scores for a token, all of a sequence's keys being visible.
  double full_scores(double sequence) const;

 private:
  Index layers_, depth_layers_;
  std::vector<LayerKind> kinds_;
  std::vector<std::size_t> order_;
  double weights_ = 0;
  double active_weights_ = 0;
};

}  // namespace mpitron::plan

#pragma once
#include <set>
#include <span>
#include <string>
#include <vector>

#include "train/step/tracked_losses.h"

namespace mpitron::train {

/// Tokens that the experts of a layer got in a step: the fewest, the 95th percentile (the nearest
/// rank) and the most.
struct ExpertBalance {
  double least = 0, p95 = 0, most = 0;
};
/// `tokens`: of each expert of the layer, over all ranks.
ExpertBalance expert_balance(std::span<const double> tokens);

/// Formats a line for each layer with experts: " tokens of the experts of layer 2: min 3, p95 40,
/// max 52".
std::string balance_lines(const LayerReport& report);

/// Lists the figures that --moe-per-layer-logging adds to the metrics:
/// `moe/load_balancing_loss_layer_0` (layers from 0, as the reference counts them) and
/// `moe/tokens_per_expert_min_layer_0`, `_p95_`, `_max_`.
std::vector<NamedLoss> layer_metrics(const LayerReport& report);

/// Notices layers whose router sends all tokens to as few experts as it can.
class CollapsedRouters {
 public:
  /// `topk`: experts that a token visits, so the fewest that all tokens can go to.
  explicit CollapsedRouters(Index topk) : topk_(topk) {}

  /// Returns a warning for each layer in which that happens for the first time.
  std::vector<std::string> operator()(Index iteration, const LayerReport& report);

 private:
  Index topk_;
  std::set<Index> told_;
};

}  // namespace mpitron::train

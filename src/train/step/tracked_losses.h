#pragma once
#include <map>
#include <span>
#include <string>
#include <vector>

#include "autograd/auxiliary_losses.h"
#include "comm/groups/parallel_groups.h"
#include "config/run_config.h"
#include "train/step/iteration_report.h"

namespace mpitron::train {

/// One of the losses beside the main one: means over the step's microbatches and replicas, for each
/// layer (0 where a layer has none) or depth of multi-token prediction.
struct LayerLosses {
  enum class Summary { mean, each } summary = Summary::mean;
  std::string name;  // in the log; `each`: with the layer's number in it
  std::vector<double> layers;
  Index layers_with_one = 0;  // by which the mean divides
};

/// Losses and counts that the layers of a step told beside the main loss.
struct LayerReport {
  std::vector<LayerLosses> losses;
  /// Tokens that each expert got, by the number (from 1) of each layer with experts.
  std::map<Index, std::vector<double>> expert_tokens;
};

/// Knows which of these losses a run has, the same on every rank.
class TrackedLosses {
 public:
  TrackedLosses(const config::RunConfig& config, const comm::ParallelGroups& groups);

  /// Reports one step, from what this rank's passes summed. Collective over all ranks.
  LayerReport report(const autograd::LayerSums& sums, Index num_microbatches,
                     comm::Group& all) const;

 private:
  struct Loss {
    std::string name;  // in LayerSums
    LayerLosses entry;
    double share = 1;  // what this rank's sum counts in the sum over all ranks
  };
  void add_prediction_losses(Index depths, const comm::ParallelGroups& groups);
  void add_indexer_loss(const config::ModelConfig& model, const comm::ParallelGroups& groups);
  void add_router_losses(const config::ModelConfig& model, Index depths,
                         const comm::ParallelGroups& groups);

  std::vector<Loss> losses_;
  Index layers_ = 0;                  // of the model and of multi-token prediction
  std::vector<Index> expert_layers_;  // numbers, from 1
  Index num_experts_ = 0;
  double token_share_ = 1;
};

/// Returns the figures for the log: the mean over the layers that have one, or each.
std::vector<NamedLoss> summaries(std::span<const LayerLosses> losses);

}  // namespace mpitron::train

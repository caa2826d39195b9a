#include "train/step/tracked_losses.h"

#include <algorithm>
#include <iterator>
#include <numeric>

#include <fmt/format.h>

#include "config/layer_pattern.h"

namespace mpitron::train {

namespace {

/// Layers of multi-token prediction that the log's mean counts. Like the reference
/// (track_moe_metrics), every depth, also one without experts; with letters those of experts.
Index depths_with_routers(const config::ModelConfig& model) {
  const std::string& letters = model.hybrid.depth_pattern;
  const Index depths = model.mtp_num_layers.value_or(0);
  return letters.empty() ? depths : depths * config::count_letter(letters, 'E');
}

}  // namespace

TrackedLosses::TrackedLosses(const config::RunConfig& config, const comm::ParallelGroups& groups) {
  const config::ModelConfig& model = config.model;
  const Index depths = model.mtp_num_layers.value_or(0);
  layers_ = model.layers_and_depths();
  if (model.moe) {
    add_router_losses(model, depths_with_routers(model), groups);
  }
  if (depths > 0) {
    add_prediction_losses(depths, groups);
  }
  if (model.indexer && model.indexer->loss_coefficient > 0) {
    add_indexer_loss(model, groups);
  }
}

/// With its weight, as the reference tells it. All ranks that share a layer tell the same.
void TrackedLosses::add_indexer_loss(const config::ModelConfig& model,
                                     const comm::ParallelGroups& groups) {
  Index with_one = 0;
  for (Index layer = 1; layer <= layers_; ++layer) {
    const config::MixerKind mixer = config::layer_spec(model, layer).mixer;
    with_one += mixer == config::MixerKind::sparse_attention ? 1 : 0;
  }
  const auto ranks = static_cast<double>(groups.tensor->size() * groups.data->size());
  losses_.push_back({.name = "indexer loss",
                     .entry = {.name = "indexer loss",
                               .layers = std::vector<double>(static_cast<std::size_t>(layers_)),
                               .layers_with_one = with_one},
                     .share = model.indexer->loss_coefficient / ranks});
}

void TrackedLosses::add_prediction_losses(Index depths, const comm::ParallelGroups& groups) {
  // Every tensor rank of the last stage knows the loss of its replica's tokens.
  const auto ranks = static_cast<double>(groups.tensor_data_context->size());
  losses_.push_back({.name = "mtp loss",
                     .entry = {.summary = LayerLosses::Summary::each,
                               .name = "mtp_{} loss",
                               .layers = std::vector<double>(static_cast<std::size_t>(depths)),
                               .layers_with_one = depths},
                     .share = 1 / ranks});
}

/// Adds losses in the reference's order: a router tells its z loss first. Ranks that cut the tokens
/// of a microbatch each tell their part; those of a tensor group that do not cut them all tell the
/// same.
void TrackedLosses::add_router_losses(const config::ModelConfig& model, Index depths,
                                      const comm::ParallelGroups& groups) {
  for (Index layer = 1; layer <= layers_; ++layer) {
    if (config::layer_spec(model, layer).feed_forward == config::FeedForwardKind::experts) {
      expert_layers_.push_back(layer);
    }
  }
  num_experts_ = model.moe->num_experts;
  token_share_ = 1 / static_cast<double>(groups.sequence_parallel ? 1 : groups.tensor->size());
  const auto add = [&](const char* name) {
    losses_.push_back({.name = name,
                       .entry = {.name = name,
                                 .layers = std::vector<double>(static_cast<std::size_t>(layers_)),
                                 .layers_with_one = model.moe->count_layers() + depths},
                       .share = token_share_ / static_cast<double>(groups.data->size())});
  };
  const auto balances = [&](config::RouterBalancing kind) {
    return std::ranges::count(model.moe->balancing_losses, kind, &config::BalancingLoss::kind) > 0;
  };
  if (model.moe->z_loss_coefficient > 0) {
    add("z_loss");
  }
  if (balances(config::RouterBalancing::aux_loss)) {
    add("load_balancing_loss");
  }
  if (balances(config::RouterBalancing::seq_aux_loss)) {
    add("seq_load_balancing_loss");
  }
  if (balances(config::RouterBalancing::global_aux_loss)) {
    add("global_load_balancing_loss");
  }
}

/// One sum over all ranks: every loss of every layer and the tokens of all experts, in a row.
LayerReport TrackedLosses::report(const autograd::LayerSums& sums, Index num_microbatches,
                                  comm::Group& all) const {
  std::vector<double> values;
  const auto append = [&](const std::vector<double>& numbers, double factor) {
    std::ranges::transform(numbers, std::back_inserter(values),
                           [factor](double number) { return number * factor; });
  };
  for (const Loss& loss : losses_) {
    append(sums.of(loss.name, static_cast<Index>(loss.entry.layers.size())),
           loss.share / static_cast<double>(num_microbatches));
  }
  append(sums.of("tokens_per_expert", layers_, num_experts_), token_share_);
  if (!values.empty()) {
    all.all_reduce({values.data(), DType::f64, {static_cast<Index>(values.size())}}).wait();
  }

  LayerReport result;
  auto next = values.begin();
  for (const Loss& loss : losses_) {
    LayerLosses& entry = result.losses.emplace_back(loss.entry);
    const auto end = next + static_cast<std::ptrdiff_t>(entry.layers.size());
    entry.layers.assign(next, end);
    next = end;
  }
  for (const Index layer : expert_layers_) {
    const auto row = next + (layer - 1) * num_experts_;
    result.expert_tokens[layer] = {row, row + num_experts_};
  }
  return result;
}

/// A router's loss is told as the mean over its layers, a prediction's depth by depth.
std::vector<NamedLoss> summaries(std::span<const LayerLosses> losses) {
  std::vector<NamedLoss> result;
  for (const LayerLosses& loss : losses) {
    if (loss.summary == LayerLosses::Summary::mean) {
      const double sum = std::accumulate(loss.layers.begin(), loss.layers.end(), 0.0);
      result.emplace_back(loss.name, sum / static_cast<double>(loss.layers_with_one));
      continue;
    }
    for (std::size_t i = 0; i < loss.layers.size(); ++i) {
      result.emplace_back(fmt::format(fmt::runtime(loss.name), i + 1), loss.layers[i]);
    }
  }
  return result;
}

}  // namespace mpitron::train

#include "train/tracked_losses.h"

#include <numeric>

#include <fmt/format.h>

namespace mpitron::train {

TrackedLosses::TrackedLosses(const config::RunConfig& config, const comm::ParallelGroups& groups) {
  if (const Index depths = config.model.mtp_num_layers.value_or(0); depths > 0) {
    // Every tensor rank of the last stage knows the loss of its replica's tokens.
    const auto ranks = static_cast<double>(groups.tensor_data_context->size());
    losses_.push_back({.name = "mtp loss",
                       .entry = {.summary = LayerLosses::Summary::each,
                                 .name = "mtp_{} loss",
                                 .layers = std::vector<double>(static_cast<std::size_t>(depths)),
                                 .layers_with_one = depths},
                       .share = 1 / ranks});
  }
}

std::vector<LayerLosses> TrackedLosses::means(const autograd::LayerSums& sums,
                                              Index num_microbatches, comm::Group& all) const {
  std::vector<double> values;
  for (const Loss& loss : losses_) {
    const double factor = loss.share / static_cast<double>(num_microbatches);
    const auto layers = static_cast<Index>(loss.entry.layers.size());
    for (const double sum : sums.of(loss.name, layers)) {
      values.push_back(sum * factor);
    }
  }
  const auto count = static_cast<Index>(values.size());
  all.all_reduce({values.data(), DType::f64, {count}}).wait();
  std::vector<LayerLosses> result;
  for (auto next = values.begin(); const Loss& loss : losses_) {
    LayerLosses& entry = result.emplace_back(loss.entry);
    const auto end = next + static_cast<std::ptrdiff_t>(entry.layers.size());
    entry.layers.assign(next, end);
    next = end;
  }
  return result;
}

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

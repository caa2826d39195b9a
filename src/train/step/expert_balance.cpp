// Summarises how evenly experts were used in a step, and notices routers that have collapsed:
// layers in which all tokens of a step went to no more experts than one token visits.
#include "train/step/expert_balance.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace mpitron::train {

ExpertBalance expert_balance(std::span<const double> tokens) {
  std::vector<double> sorted(tokens.begin(), tokens.end());
  std::ranges::sort(sorted);
  const auto rank = static_cast<std::size_t>(std::ceil(0.95 * static_cast<double>(sorted.size())));
  return {.least = sorted.front(), .p95 = sorted[rank - 1], .most = sorted.back()};
}

std::string balance_lines(const LayerReport& report) {
  std::vector<std::string> lines;
  for (const auto& [layer, tokens] : report.expert_tokens) {
    const ExpertBalance balance = expert_balance(tokens);
    lines.push_back(
        fmt::format(" tokens of the experts of layer {}: min {:.0f}, p95 {:.0f}, "
                    "max {:.0f}",
                    layer, balance.least, balance.p95, balance.most));
  }
  return fmt::format("{}", fmt::join(lines, "\n"));
}

/// Names layers from 0, as the reference's metrics do; our own log counts from 1.
std::vector<NamedLoss> layer_metrics(const LayerReport& report) {
  std::vector<NamedLoss> metrics;
  for (const LayerLosses& loss : report.losses) {
    for (std::size_t i = 0; loss.summary == LayerLosses::Summary::mean && i < loss.layers.size();
         ++i) {
      metrics.emplace_back(fmt::format("moe/{}_layer_{}", loss.name, i), loss.layers[i]);
    }
  }
  for (const auto& [layer, tokens] : report.expert_tokens) {
    const ExpertBalance balance = expert_balance(tokens);
    const auto add = [&, number = layer - 1](const char* what, double value) {
      metrics.emplace_back(fmt::format("moe/tokens_per_expert_{}_layer_{}", what, number), value);
    };
    add("min", balance.least);
    add("p95", balance.p95);
    add("max", balance.most);
  }
  return metrics;
}

std::vector<std::string> CollapsedRouters::operator()(Index iteration, const LayerReport& report) {
  std::vector<std::string> warnings;
  for (const auto& [layer, tokens] : report.expert_tokens) {
    const auto experts = static_cast<Index>(tokens.size());
    const Index used = experts - std::ranges::count(tokens, 0.0);
    if (used > 0 && used <= topk_ && used < experts && told_.insert(layer).second) {
      warnings.push_back(
          fmt::format("iteration {}: the router of layer {} sent all tokens to {} of {} experts; "
                      "--moe-aux-loss-coeff or --moe-router-enable-expert-bias spreads them",
                      iteration, layer, used, experts));
    }
  }
  return warnings;
}

}  // namespace mpitron::train

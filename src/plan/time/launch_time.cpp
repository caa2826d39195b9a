#include <cmath>

#include "plan/time/half_layer.h"

// Launches of half a layer's kernels, as far as they take longer than the kernels.

namespace mpitron::plan {
namespace {

constexpr double kBackwardLaunches = 2;
constexpr double kGroupedKernels = 4;   // of experts' products, whatever they are given
constexpr double kChunkLaunches = 0.3;  // of an expert whose rows are sorted one by one
constexpr double kHidesLaunches = 4;    // exponent of the soft maximum of host and device

/// Returns the kernels that the host launches in a forward pass: those in graphs count as none.
double launched_kernels(const HalfLayer& half) {
  const Graphs graphs = half.job.practice.graphs;
  if (graphs == Graphs::whole || (graphs == Graphs::attention_and_router && half.work.scores)) {
    return 0;
  }
  if (!half.work.visits) {
    return half.work.launches;
  }
  const double local = half.job.experts() / half.job.expert();
  const bool narrow = half.narrow && half.job.precision() != Precision::bf16;
  double grouped = half.job.practice.bounded_experts ? kGroupedKernels : local * (narrow ? 3 : 2);
  if (!half.job.practice.fused_dispatch && !half.job.practice.bounded_experts) {
    grouped += kChunkLaunches * half.job.experts();  // rows are sorted by rank and expert
  }
  return half.work.launches * (graphs == Graphs::none ? 1 : 0.5) + grouped;
}

}  // namespace

/// Adds the host's launches where they take longer than the device's work, with a soft edge; all
/// of them where the host waits for each kernel.
void add_launches(const HalfLayer& half, LayerTime& result) {
  const double launches = launched_kernels(half);
  const auto added = [&](const Terms& device, double host) {
    if (half.stack.waits_for_kernels > 0) {
      return host;
    }
    const double work = device.sum();
    const double both = std::pow(std::pow(work, kHidesLaunches) + std::pow(host, kHidesLaunches),
                                 1 / kHidesLaunches);
    return both - work;
  };
  const double host = half.stack.launch * launches;
  result.forward.launch += added(result.forward, host);
  result.backward.launch += added(result.backward, kBackwardLaunches * host);
}

}  // namespace mpitron::plan

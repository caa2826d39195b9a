#include "doctor/node_speed_check.h"

#include <algorithm>
#include <limits>
#include <map>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "checkpoint/plan/agreement.h"
#include "comm/groups/world.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/linear/matmul.h"
#include "launch/rank_place.h"
#include "tensor/tensor.h"
#include "utils/numbers/median.h"
#include "utils/timer.h"
#include "utils/trace.h"

// Speeds of the nodes of a job, compared with each other: one slow node makes all others wait in
// every step.

namespace mpitron::doctor {
namespace {

/// Returns the median of all nodes, with which a node is compared.
Speed median_of(const std::vector<const NodeSpeed*>& nodes) {
  std::vector<double> flops, bytes;
  for (const NodeSpeed* node : nodes) {
    flops.push_back(node->speed.flops);
    bytes.push_back(node->speed.bytes_per_s);
  }
  return {.flops = median(flops), .bytes_per_s = median(bytes)};
}

std::string percent_of(double value, double whole, const char* what) {
  return fmt::format("{} {:.0f} % of the median", what, 100 * value / whole);
}

using tensor::Tensor;

/// Returns the fastest of some repetitions: noise only slows down.
template <class Work>
double fastest(const SpeedProbe& probe, Work&& work) {
  double best = std::numeric_limits<double>::max();
  for (Index i = 0; i < probe.repetitions; ++i) {
    probe.barrier();
    const Timer timer;
    work();
    best = std::min(best, timer.seconds());
  }
  return best;
}

Tensor filled(device::Device& host, const Shape& shape) {
  const Tensor made = Tensor::empty(host, shape, DType::f32);
  device::launch(host.stream(), kernels::Fill{.x = made.view(), .value = 0.5f});
  return made;
}

}  // namespace

/// Collects all ranks' measurements, by their nodes.
std::vector<NodeSpeed> gather_speeds(comm::World& world, const Speed& own) {
  const auto texts =
      checkpoint::collect_texts(*world.all(), fmt::format("{} {}", own.flops, own.bytes_per_s));
  std::vector<NodeSpeed> nodes;
  std::map<std::string, std::size_t> index;
  for (std::size_t rank = 0; rank < texts.size(); ++rank) {
    const std::string host = world.host(static_cast<Index>(rank));
    const auto [at, is_new] = index.emplace(host, nodes.size());
    if (is_new) {
      nodes.push_back({.node = host, .ranks = 0, .speed = {}});
    }
    Speed speed;
    std::istringstream(texts[rank]) >> speed.flops >> speed.bytes_per_s;
    NodeSpeed& node = nodes[at->second];
    node.ranks += 1;
    node.speed.flops += speed.flops;
    node.speed.bytes_per_s += speed.bytes_per_s;
  }
  return nodes;
}

/// Compares nodes with the same number of ranks: those with fewer have more for each.
std::vector<SlowNode> slow_nodes(const std::vector<NodeSpeed>& nodes, double threshold) {
  std::map<Index, std::vector<const NodeSpeed*>> alike;
  for (const NodeSpeed& node : nodes) {
    alike[node.ranks].push_back(&node);
  }
  std::map<Index, Speed> medians;
  for (const auto& [ranks, members] : alike) {
    medians[ranks] = median_of(members);
  }
  std::vector<SlowNode> slow;
  for (const NodeSpeed& node : nodes) {
    const Speed& usual = medians[node.ranks];
    if (node.speed.flops < threshold * usual.flops) {
      slow.push_back({node.node, percent_of(node.speed.flops, usual.flops, "computes")});
    } else if (node.speed.bytes_per_s < threshold * usual.bytes_per_s) {
      slow.push_back({node.node, percent_of(node.speed.bytes_per_s, usual.bytes_per_s, "memory")});
    }
  }
  return slow;
}

/// Names the slow ones with their share of the median.
CheckResult check_node_speeds(const std::vector<NodeSpeed>& nodes,
                              const std::vector<SlowNode>& slow) {
  std::vector<const NodeSpeed*> all;
  for (const NodeSpeed& node : nodes) {
    all.push_back(&node);
  }
  const Speed usual = median_of(all);
  CheckResult result{"node speed", Verdict::ok,
                     fmt::format("{} {:.0f} GFLOP/s (fp32 product), {:.1f} GB/s (memory){}",
                                 nodes.size() > 1 ? "median of a node:" : "this node:",
                                 usual.flops * 1e-9, usual.bytes_per_s * 1e-9,
                                 nodes.size() > 1 ? "" : "; one node has nothing to compare with"),
                     ""};
  if (!slow.empty()) {
    std::vector<std::string> names, reasons;
    for (const SlowNode& node : slow) {
      names.push_back(node.node);
      reasons.push_back(fmt::format("{} ({})", node.node, node.reason));
    }
    result.verdict = Verdict::warn;
    result.found += fmt::format("; slow: {}", fmt::join(reasons, ", "));
    result.advice =
        fmt::format("sbatch --exclude={}; and tell the site", launch::name_ranges(names));
  }
  return result;
}

/// Measures products of matrices for arithmetic and a scaled copy for memory, on the cores of the
/// rank's share.
Speed measure_speed(device::Device& host, const SpeedProbe& probe) {
  const Shape square = {probe.side, probe.side};
  const Tensor a = filled(host, square), b = filled(host, square), c = filled(host, square);
  kernels::Matmul product{.a = a.view(), .b = b.view(), .bias = {}, .c = c.view()};
  const Tensor workspace = Tensor::empty(
      host, {std::max<Index>(1, device::workspace_bytes_of(host.stream(), product))}, DType::u8);
  product.workspace = workspace.view();
  const double seconds = fastest(probe, [&] { device::launch(host.stream(), product); });

  const Index elements = probe.bytes / static_cast<Index>(sizeof(float));
  const Tensor x = filled(host, {elements}), y = filled(host, {elements});
  const kernels::Scale scale{.x = x.view(), .y = y.view(), .factor = 2};
  const double memory_seconds = fastest(probe, [&] { device::launch(host.stream(), scale); });

  const auto side = static_cast<double>(probe.side);
  return {.flops = 2 * side * side * side / seconds,
          .bytes_per_s = 2 * static_cast<double>(probe.bytes) / memory_seconds};
}

}  // namespace mpitron::doctor

#include "comm/groups/rank_grid.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "utils/check.h"
#include "utils/error.h"

// Ranks as numbers in a mixed radix: each axis has a size and a stride, the product of the sizes of
// the axes before it in the order. A group along some axes is a rank's number with all other digits
// kept. Names, order and defaults are those of Megatron's parallel_state.

namespace mpitron::comm {
namespace {

constexpr std::array<std::string_view, kAxes> kNames = {"tp", "cp", "ep", "dp", "pp"};

/// "tp-cp-ep-dp-pp": names of axes, joined by dashes.
std::vector<Axis> parse_axes(std::string_view names) {
  std::vector<Axis> axes;
  while (!names.empty()) {
    const std::string_view name = names.substr(0, names.find('-'));
    const auto* const at = std::find(kNames.begin(), kNames.end(), name);
    MPITRON_CHECK(at != kNames.end(), name);
    axes.push_back(static_cast<Axis>(at - kNames.begin()));
    names.remove_prefix(std::min(names.size(), name.size() + 1));
  }
  return axes;
}

/// Error(usage) names the options whose product does not divide the ranks.
Index divide(Index world, Index part, std::string_view options) {
  if (part < 1 || world % part != 0) {
    throw_usage("{} ranks do not divide by {} = {}: start a multiple of {} ranks or change these",
                world, options, part, part);
  }
  return world / part;
}

/// Gives the data parallel axis what the other axes of dense layers leave of the world.
Grid::Sizes dense_sizes(Index world, const ParallelSizes& p) {
  const Index data = divide(world, p.tensor * p.context * p.pipeline,
                            "--tensor-model-parallel-size x --context-parallel-size x "
                            "--pipeline-model-parallel-size");
  return {p.tensor, p.context, 1, data, p.pipeline};
}

/// Experts without a tensor parallel size of their own take that of the other layers.
Grid::Sizes expert_sizes(Index world, const ParallelSizes& p) {
  const Index tensor = p.expert_tensor > 0 ? p.expert_tensor : p.tensor;
  const Index data = divide(world, tensor * p.expert * p.pipeline,
                            "--expert-tensor-parallel-size x --expert-model-parallel-size x "
                            "--pipeline-model-parallel-size");
  return {tensor, 1, p.expert, data, p.pipeline};
}

}  // namespace

/// Every axis once; the first is the one that changes fastest from rank to rank.
Order parse_order(std::string_view names) {
  const std::vector<Axis> axes = parse_axes(names);
  Order order{};
  MPITRON_CHECK(axes.size() == kAxes, names);
  std::copy(axes.begin(), axes.end(), order.begin());
  Order sorted = order;
  std::sort(sorted.begin(), sorted.end());
  MPITRON_CHECK(std::adjacent_find(sorted.begin(), sorted.end()) == sorted.end(), names);
  return order;
}

/// The axes of one group, for example "tp-dp".
AxisSet AxisSet::parse(std::string_view names) {
  AxisSet set{};
  for (const Axis axis : parse_axes(names)) {
    set = set | AxisSet{axis};
  }
  return set;
}

/// Dense layers and experts share their pipeline stages, whatever their other axes are.
RankGrid::RankGrid(Index world_size, const ParallelSizes& sizes, std::string_view order)
    : dense_(dense_sizes(world_size, sizes), parse_order(order)),
      expert_(expert_sizes(world_size, sizes), parse_order(order)) {
  const bool same_stages =
      dense_.stride(Axis::pipeline) == expert_.stride(Axis::pipeline) &&
      (order.ends_with("pp") || dense_.size(Axis::data) == expert_.size(Axis::data));
  if (dense_.size(Axis::pipeline) > 1 && !same_stages) {
    throw_usage(
        "--use-tp-pp-dp-mapping with {} pipeline stages puts experts and other layers on different "
        "stages: --expert-tensor-parallel-size x --expert-model-parallel-size ({}) must equal "
        "--tensor-model-parallel-size x --context-parallel-size ({}), or leave that option out",
        dense_.size(Axis::pipeline), expert_.stride(Axis::pipeline), dense_.stride(Axis::pipeline));
  }
}

/// Splits a group of a0 x a1 ranks (a2a+p2p): level 0 are neighbours, level 1 those at the same
/// place.
std::vector<std::vector<Index>> hierarchical_groups(const std::vector<Index>& ranks,
                                                    const std::vector<Index>& sizes,
                                                    std::size_t level) {
  const auto product = [](auto begin, auto end) {
    return std::accumulate(begin, end, Index{1}, std::multiplies<>());
  };
  const auto at = sizes.begin() + static_cast<std::ptrdiff_t>(level);
  const Index stride = product(sizes.begin(), at);
  const Index block = stride * *at;
  const auto n = static_cast<Index>(ranks.size());
  MPITRON_CHECK(product(sizes.begin(), sizes.end()) == n, n);
  std::vector<std::vector<Index>> groups;
  for (Index first = 0; first < n; first += first % block == stride - 1 ? block - stride + 1 : 1) {
    std::vector<Index> group;
    for (Index member = 0; member < *at; ++member) {
      group.push_back(ranks[static_cast<std::size_t>(first + member * stride)]);
    }
    groups.push_back(std::move(group));
  }
  return groups;
}

}  // namespace mpitron::comm

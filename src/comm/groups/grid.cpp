#include <numeric>

#include "comm/groups/rank_grid.h"
#include "utils/check.h"
#include "utils/error.h"

// A grid of ranks: coordinates, and the groups along some of its axes.

namespace mpitron::comm {

Grid::Grid(const Sizes& sizes, const Order& order) : sizes_(sizes), order_(order) {
  for (const Axis axis : order_) {
    strides_[index(axis)] = world_;
    world_ *= size(axis);
  }
}

Index Grid::count(AxisSet axes) const {
  return std::accumulate(order_.begin(), order_.end(), Index{1}, [&](Index product, Axis axis) {
    return axes.contains(axis) ? product * size(axis) : product;
  });
}

/// Ranks that differ in these alone belong to different groups.
AxisSet Grid::others(AxisSet axes) const {
  AxisSet rest{};
  for (const Axis axis : order_) {
    if (!axes.contains(axis)) {
      rest = rest | AxisSet{axis};
    }
  }
  return rest;
}

/// The distance from a group's first rank to its n-th.
Index Grid::offset(Index n, AxisSet axes) const {
  Index sum = 0;
  for (const Axis axis : order_) {
    if (axes.contains(axis)) {
      sum += n % size(axis) * stride(axis);
      n /= size(axis);
    }
  }
  return sum;
}

/// Ascending, with `rank` among them.
std::vector<Index> Grid::group_of(Index rank, AxisSet axes) const {
  MPITRON_CHECK(rank >= 0 && rank < world_, rank, world_);
  Index first = rank;
  for (const Axis axis : order_) {
    if (axes.contains(axis)) {
      first -= coordinate(rank, axis) * stride(axis);
    }
  }
  std::vector<Index> group = {first};
  group.reserve(static_cast<std::size_t>(count(axes)));
  for (const Axis axis : order_) {
    const std::size_t inner = group.size();
    for (Index digit = 1; axes.contains(axis) && digit < size(axis); ++digit) {
      for (std::size_t n = 0; n < inner; ++n) {
        group.push_back(group[n] + digit * stride(axis));
      }
    }
  }
  return group;
}

/// All groups of these axes; every rank of the world is in one.
std::vector<std::vector<Index>> Grid::groups(AxisSet axes) const {
  const AxisSet rest = others(axes);
  std::vector<std::vector<Index>> all;
  all.reserve(static_cast<std::size_t>(count(rest)));
  for (Index n = 0; n < count(rest); ++n) {
    all.push_back(group_of(offset(n, rest), axes));
  }
  return all;
}

}  // namespace mpitron::comm

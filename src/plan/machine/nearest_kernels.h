#pragma once
#include <algorithm>
#include <cmath>

#include "plan/machine/measured_costs.h"

namespace mpitron::plan {

// How times between those measured are told: by the mean of the nearest.

/// Few, for far ones to have no say; more than one, for noise of a measurement to even out.
inline constexpr std::size_t kNeighbours = 3;

/// Returns how far apart two launches of a kernel are: the squared distance of the logarithms of
/// their extents.
inline double extent_distance(const std::vector<Index>& a, const std::vector<Index>& b) {
  double sum = 0;
  const std::size_t n = std::max(a.size(), b.size());
  for (std::size_t i = 0; i < n; ++i) {
    const double x = i < a.size() ? std::log1p(static_cast<double>(a[i])) : 0;
    const double y = i < b.size() ? std::log1p(static_cast<double>(b[i])) : 0;
    sum += (x - y) * (x - y);
  }
  return sum;
}

struct NearKernel {
  double away;
  const TimedKernel* kernel;
};

/// Returns seconds for a unit of work: the geometric mean of what was measured nearest, weighted by
/// closeness; 0 where nothing was measured with so many ranks.
inline double rate_near(const std::vector<TimedKernel>& known, const std::vector<Index>& extents,
                        double work, Index ranks) {
  std::vector<NearKernel> near;
  for (const TimedKernel& one : known) {
    if (one.ranks == ranks && one.work > 0) {
      const double by_work = std::log(work / one.work);
      near.push_back({extent_distance(one.extents, extents) + 0.1 * by_work * by_work, &one});
    }
  }
  if (near.empty()) {
    return 0;
  }
  const std::size_t used = std::min(kNeighbours, near.size());
  std::ranges::partial_sort(near, near.begin() + static_cast<std::ptrdiff_t>(used), {},
                            &NearKernel::away);
  double sum = 0, weights = 0;
  for (std::size_t i = 0; i < used; ++i) {
    const double weight = 1 / (1e-6 + near[i].away);
    sum += weight * std::log(near[i].kernel->seconds / near[i].kernel->work);
    weights += weight;
  }
  return std::exp(sum / weights);
}

}  // namespace mpitron::plan

#include "kernels/sparse_attention/index_choice.h"

#include <algorithm>

#include "kernels/reference/common/elements.h"

namespace mpitron::kernels {

/// Sorts all keys of a query; equal ones stay in order.
void run(device::ReferenceStream&, const IndexChoice& kernel) {
  const reference::Reader scores(kernel.scores);
  const reference::Writer hidden(kernel.hidden);
  const Index s = kernel.scores.size(2);
  for (Index row = 0; row < kernel.scores.size(0) * s; ++row) {
    const Index b = row / s, i = row % s;
    const VisibleKeys visible(kernel.mask, b, i);
    std::vector<Index> keys;
    for (Index j = 0; j < s; ++j) {
      hidden.set(1, b, i, j);
      if (j < visible.end() && visible(j)) {
        keys.push_back(j);
      }
    }
    std::ranges::stable_sort(keys, [&](Index a, Index c) {
      const double left = scores(b, i, a), right = scores(b, i, c);
      return std::isnan(right) ? !std::isnan(left) : left > right;
    });
    keys.resize(std::min(keys.size(), static_cast<std::size_t>(kernel.topk)));
    for (const Index j : keys) {
      hidden.set(0, b, i, j);
    }
  }
}

}  // namespace mpitron::kernels

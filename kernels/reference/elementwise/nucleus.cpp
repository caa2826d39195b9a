#include "kernels/elementwise/nucleus.h"

#include <algorithm>
#include <functional>
#include <vector>

#include "kernels/reference/common/elements.h"

namespace mpitron::kernels {

using reference::Reader;
using reference::Writer;

/// Sorts all weights and walks from the heaviest to the border.
void run(device::ReferenceStream&, const NucleusBorder& kernel) {
  const Reader weights(kernel.weights), sums(kernel.sums);
  const Writer border(kernel.border);
  std::vector<double> sorted;
  for (Index i = 0; i < kernel.weights.numel(); ++i) {
    if (sums(i / kTokenBlock) > 0 && weights(i) > 0) {
      sorted.push_back(weights(i));
    }
  }
  std::ranges::sort(sorted, std::greater<>());
  double heavier = 0, sum = 0;
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    heavier = i == 0 || sorted[i] < sorted[i - 1] ? sum : heavier;
    sum += sorted[i];
    if (sum > kernel.mass) {
      border.set(sorted[i], 0);
      border.set(heavier, 1);
      border.set(static_cast<double>(std::ranges::count(sorted, sorted[i])), 2);
      return;
    }
  }
  for (Index i = 0; i < 3; ++i) {
    border.set(0, i);
  }
}

void run(device::ReferenceStream&, const AlikeWeights& kernel) {
  const Reader weights(kernel.weights), sums(kernel.sums);
  auto* const ids = kernel.ids.as<std::int64_t>();
  Index found = 0;
  for (Index i = 0; i < kernel.weights.numel(); ++i) {
    if (sums(i / kTokenBlock) >= kernel.weight && weights(i) == kernel.weight) {
      ids[found++] = i;
    }
  }
  kernel.count.as<std::int64_t>()[0] = found;
}

void run(device::ReferenceStream&, const KeepWeights& kernel) {
  const Reader weights(kernel.weights), sums(kernel.sums);
  const Writer kept(kernel.weights), left(kernel.sums);
  for (Index block = 0; block < kernel.sums.numel(); ++block) {
    if (sums(block) == 0) {
      continue;
    }
    const Index end = std::min(kernel.weights.numel(), (block + 1) * kTokenBlock);
    double sum = 0;
    for (Index i = block * kTokenBlock; i < end; ++i) {
      kept.set(weights(i) < kernel.least ? 0 : weights(i), i);
      sum += weights(i);
    }
    left.set(sum, block);
  }
}

}  // namespace mpitron::kernels

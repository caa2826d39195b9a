#include "kernels/elementwise/token_weights.h"

#include <algorithm>
#include <cmath>

#include "kernels/reference/common/elements.h"

namespace mpitron::kernels {

using reference::Reader;
using reference::Writer;

namespace {

/// Calls f(block, its first id, the id behind its last).
template <class F>
void for_token_blocks(Index v, F&& f) {
  for (Index block = 0; block < token_blocks(v); ++block) {
    f(block, block * kTokenBlock, std::min(v, (block + 1) * kTokenBlock));
  }
}

}  // namespace

/// Maxima let NaN lose every comparison, so that it counts as minus infinity.
void run(device::ReferenceStream&, const BlockMaxima& kernel) {
  const Reader x(kernel.x);
  const Writer maxima(kernel.maxima);
  for_token_blocks(kernel.x.numel(), [&](Index block, Index begin, Index end) {
    double largest = -INFINITY;
    for (Index i = begin; i < end; ++i) {
      largest = x(i) > largest ? x(i) : largest;
    }
    maxima.set(largest, block);
  });
}

void run(device::ReferenceStream&, const TokenWeights& kernel) {
  const Reader x(kernel.x);
  const Writer weights(kernel.weights), scaled(kernel.scaled), sums(kernel.sums);
  for_token_blocks(kernel.x.numel(), [&](Index block, Index begin, Index end) {
    double sum = 0;
    for (Index i = begin; i < end; ++i) {
      const double logit = x(i) / kernel.temperature;
      const double power = logit - kernel.largest / kernel.temperature;
      const double weight = power < -708 ? 0 : std::exp(power);
      sum += weight;
      if (kernel.weights) {
        weights.set(weight, i);
      }
      if (kernel.scaled) {
        scaled.set(logit, i);
      }
    }
    sums.set(sum, block);
  });
}

}  // namespace mpitron::kernels

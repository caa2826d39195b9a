#include "kernels/attention/attention_merge.h"

#include <cmath>

#include "kernels/reference/common/elements.h"

namespace mpitron::kernels {

using reference::Reader;
using reference::Writer;

/// o = o e^(lse - m) + part e^(part_lse - m), divided by the new sum; all in double, m the larger
/// lse.
void run(device::ReferenceStream&, const AttentionMerge& kernel) {
  const Writer o(kernel.o), lse(kernel.lse);
  const Reader part_o(kernel.part_o), part_lse(kernel.part_lse);
  const Index s = kernel.o.size(0), b = kernel.o.size(1), n = kernel.o.size(2);
  for (Index row = 0; row < s * b * n; ++row) {
    const Index at = row % (b * n) * s + row / (b * n);
    const double mine = lse(at), theirs = part_lse(at);
    const double largest = std::max(mine, theirs);
    if (std::isinf(largest)) {
      continue;
    }
    const double both = largest + std::log(std::exp(mine - largest) + std::exp(theirs - largest));
    for (Index i = 0; i < kernel.o.size(3); ++i) {
      const Index element = row * kernel.o.size(3) + i;
      o.set(std::exp(mine - both) * o(element) + std::exp(theirs - both) * part_o(element),
            element);
    }
    lse.set(both, at);
  }
}

}  // namespace mpitron::kernels

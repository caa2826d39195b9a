#include "kernels/attention/attention_largest.h"

#include <algorithm>

#include "kernels/reference/common/elements.h"

namespace mpitron::kernels {

using reference::Reader;
using reference::Writer;

/// The largest score of each head over all rows and visible keys, in double.
void run(device::ReferenceStream&, const AttentionLargest& kernel) {
  const Reader q(kernel.q), k(kernel.k);
  const Writer largest(kernel.largest);
  const Index s = kernel.q.size(0), heads = kernel.q.size(3), d = kernel.q.size(4);
  for (Index row = 0; row < s * kernel.q.size(1) * kernel.q.size(2) * heads; ++row) {
    const Index head = row % heads, group = row / heads % kernel.q.size(2);
    const Index sample = row / heads / kernel.q.size(2) % kernel.q.size(1);
    const Index i = row / heads / kernel.q.size(2) / kernel.q.size(1), at_i = kernel.queries(i);
    for (Index j = kernel.first_key(at_i); j < (kernel.causal ? at_i + 1 : kernel.k.size(0)); ++j) {
      if (kernel.mask && Reader(kernel.mask)(kernel.mask.size(0) > 1 ? sample : 0,
                                             kernel.mask.size(1) > 1 ? i : 0, j) != 0) {
        continue;
      }
      double sum = 0;
      for (Index c = 0; c < d; ++c) {
        sum += q(i, sample, group, head, c) * k(j, sample, group, c);
      }
      const Index at = group * heads + head;
      largest.set(std::max(largest(at), sum * kernel.scale), at);
    }
  }
}

}  // namespace mpitron::kernels

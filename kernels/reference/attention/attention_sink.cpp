#include "kernels/attention/attention_sink.h"

#include <algorithm>
#include <cmath>

#include "kernels/reference/common/elements.h"

namespace mpitron::kernels {

using reference::Reader;
using reference::Writer;

/// The sink is one more term of every row's sum: o shrinks by e^(lse - new lse).
void run(device::ReferenceStream&, const AttentionSinkForward& k) {
  const Writer o(k.o), lse(k.lse);
  const Reader sink(k.sink);
  const Index s = k.o.size(0), b = k.o.size(1), n = k.o.size(2), d = k.o.size(3);
  for (Index row = 0; row < s * b * n; ++row) {
    const Index head = row % n, at = row % (b * n) * s + row / (b * n);
    const double other = sink ? sink(k.first_head + head) : 0, mine = lse(at);
    const double largest = std::max(mine, other);
    const double both = largest + std::log(std::exp(mine - largest) + std::exp(other - largest));
    for (Index i = row * d; i < (row + 1) * d; ++i) {
      o.set(o(i) * std::exp(mine - both), i);
    }
    lse.set(both, at);
  }
}

/// dsink = -sum over rows of p_sink (o d_o), where o is the output with the sink.
void run(device::ReferenceStream&, const AttentionSinkBackward& k) {
  const Reader o(k.o), d_o(k.d_o), lse(k.lse), sink(k.sink);
  const Writer dsink(k.dsink);
  const Index s = k.o.size(0), b = k.o.size(1), n = k.o.size(2), d = k.o.size(3);
  for (Index head = 0; head < k.sink.size(0); ++head) {
    const Index own = head - k.first_head;
    double sum = k.accumulate ? dsink(head) : 0;
    for (Index sample = 0; own >= 0 && own < n && sample < b; ++sample) {
      for (Index i = 0; i < s; ++i) {
        const double p = std::exp(sink(head) - lse(sample, own, i));
        for (Index c = 0; c < d; ++c) {
          sum -= p * o(i, sample, own, c) * d_o(i, sample, own, c);
        }
      }
    }
    dsink.set(sum, head);
  }
}

}  // namespace mpitron::kernels

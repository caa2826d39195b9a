#include "kernels/attention/rotary.h"

#include "kernels/reference/common/elements.h"

namespace mpitron::kernels {

using reference::Reader;
using reference::Writer;

namespace {

/// Turns pairs (i, i + r), or neighbours where the kernel is interleaved; the rest of a head stays.
void rotate_head(const RotaryEmbedding& kernel, Index position, Index sample, Index head) {
  const Writer x(kernel.x);
  const Reader cos(kernel.cos), sin(kernel.sin);
  const Index r = kernel.cos.size(1);
  for (Index i = 0; i < r; ++i) {
    const Index first = kernel.interleaved ? 2 * i : i;
    const Index second = kernel.interleaved ? 2 * i + 1 : i + r;
    const double c = cos(position, i);
    const double s = kernel.inverse ? -sin(position, i) : sin(position, i);
    const double a = x(position, sample, head, first);
    const double b = x(position, sample, head, second);
    x.set(a * c - b * s, position, sample, head, first);
    x.set(b * c + a * s, position, sample, head, second);
  }
}

}  // namespace

/// Turns in place: x is its own output.
void run(device::ReferenceStream&, const RotaryEmbedding& kernel) {
  for (Index position = 0; position < kernel.x.size(0); ++position) {
    for (Index sample = 0; sample < kernel.x.size(1); ++sample) {
      for (Index head = 0; head < kernel.x.size(2); ++head) {
        rotate_head(kernel, position, sample, head);
      }
    }
  }
}

}  // namespace mpitron::kernels

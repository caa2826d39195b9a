#include "kernels/elementwise/elementwise.h"

#include "kernels/elementwise/normal_sample.h"
#include "kernels/reference/common/elements.h"

namespace mpitron::kernels {

using reference::Reader;
using reference::Writer;

void run(device::ReferenceStream&, const Fill& kernel) {
  const Writer x(kernel.x);
  for (Index i = 0; i < kernel.x.numel(); ++i) {
    x.set(kernel.value, i);
  }
}

/// Rounds once, from double.
void run(device::ReferenceStream&, const Cast& kernel) {
  const Reader x(kernel.x);
  const Writer y(kernel.y);
  for (Index i = 0; i < kernel.x.numel(); ++i) {
    y.set(x(i), i);
  }
}

void run(device::ReferenceStream&, const Add& kernel) {
  const Reader a(kernel.a), b(kernel.b);
  const Writer y(kernel.y);
  for (Index i = 0; i < kernel.y.numel(); ++i) {
    y.set(a(i) + b(i), i);
  }
}

void run(device::ReferenceStream&, const Scale& kernel) {
  const Reader x(kernel.x);
  const Writer y(kernel.y);
  for (Index i = 0; i < kernel.x.numel(); ++i) {
    y.set(x(i) * kernel.factor, i);
  }
}

void run(device::ReferenceStream&, const MovingAverage& kernel) {
  const Reader x(kernel.x);
  const Writer average(kernel.average);
  const auto stays = static_cast<double>(kernel.momentum);
  for (Index i = 0; i < kernel.x.numel(); ++i) {
    average.set(stays * average(i) + (1 - stays) * x(i), i);
  }
}

/// Sums products and mask in double, in order.
void run(device::ReferenceStream&, const MaskedSum& kernel) {
  const Reader x(kernel.x), mask(kernel.mask);
  double sum = 0;
  double count = 0;
  for (Index i = 0; i < kernel.x.numel(); ++i) {
    sum += mask(i) * x(i);
    count += mask(i);
  }
  Writer(kernel.y).set(sum, 0);
  Writer(kernel.y).set(count, 1);
}

/// Draws by global index, so that a shard has its part of the whole's numbers.
void run(device::ReferenceStream&, const NormalInit& kernel) {
  const Writer x(kernel.x);
  const Index n = kernel.pitch > 0 ? kernel.x.size(-1) : kernel.x.numel();
  for (Index i = 0; i < kernel.x.numel(); ++i) {
    const Index index = kernel.first_index + i / n * kernel.pitch + i % n;
    x.set(kernel.mean + kernel.std * normal_sample(kernel.key, index), i);
  }
}

}  // namespace mpitron::kernels

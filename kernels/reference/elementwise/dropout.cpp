#include "kernels/elementwise/dropout.h"

#include "kernels/reference/common/elements.h"

namespace mpitron::kernels {

using reference::Reader;
using reference::Writer;

namespace {

/// Returns the factor of element (row, column): 0 or 1 / (1 - p).
double dropout_factor(const DropoutMask& mask, Index batch, Index row, Index column) {
  if (!mask.active()) {
    return 1;
  }
  const bool keeps =
      dropout_keeps(mask, column + mask.index.column_offset, mask.index.sequence(row / batch),
                    mask.index.sample(row % batch));
  return keeps ? mask.keep_scale() : 0;
}

}  // namespace

/// y = residual + mask (x + bias) / (1 - p).
void run(device::ReferenceStream&, const BiasDropoutAddForward& kernel) {
  const Reader x(kernel.x), bias(kernel.bias), residual(kernel.residual);
  const Writer y(kernel.y);
  for (Index row = 0; row < reference::rows_of(kernel.x); ++row) {
    for (Index column = 0; column < kernel.x.size(-1); ++column) {
      const double z = x(row, column) + (bias ? bias(column) : 0);
      const double kept = z * dropout_factor(kernel.mask, kernel.batch, row, column);
      y.set((residual ? residual(row, column) : 0) + kept, row, column);
    }
  }
}

/// Draws the mask again from its key: nothing was kept.
void run(device::ReferenceStream&, const DropoutBackward& kernel) {
  const Reader dy(kernel.dy);
  const Writer dx(kernel.dx);
  for (Index row = 0; row < reference::rows_of(kernel.dy); ++row) {
    for (Index column = 0; column < kernel.dy.size(-1); ++column) {
      dx.set(dy(row, column) * dropout_factor(kernel.mask, kernel.batch, row, column), row, column);
    }
  }
}

}  // namespace mpitron::kernels

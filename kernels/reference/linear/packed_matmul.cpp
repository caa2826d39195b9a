#include "kernels/linear/packed_matmul.h"

#include "kernels/reference/common/elements.h"

namespace mpitron::kernels {

using reference::Reader;
using reference::Writer;

namespace {

/// Where element (row, column) of a weight with `k` columns lies.
Index packed_index(Index row, Index column, Index k) {
  const Index block = row / kPackedColumns;
  return (block * k + column) * kPackedColumns + row % kPackedColumns;
}

}  // namespace

/// Columns of a block that no row fills are zero.
void run(device::ReferenceStream&, const PackWeight& kernel) {
  const Reader weight(kernel.weight);
  const Writer packed(kernel.packed);
  const Index n = kernel.weight.size(0), k = kernel.weight.size(1);
  for (Index i = 0; i < packed_elements(n, k); ++i) {
    packed.set(0, i);
  }
  for (Index row = 0; row < n; ++row) {
    for (Index column = 0; column < k; ++column) {
      packed.set(weight(row, column), packed_index(row, column, k));
    }
  }
}

/// Sums over k in order, in double; the bias is added before the one rounding.
void run(device::ReferenceStream&, const PackedMatmul& kernel) {
  const Reader x(kernel.x), packed(kernel.packed), bias(kernel.bias);
  const Writer y(kernel.y);
  const Index k = kernel.x.size(1);
  for (Index row = 0; row < kernel.y.size(0); ++row) {
    for (Index column = 0; column < kernel.y.size(1); ++column) {
      double sum = 0;
      for (Index i = 0; i < k; ++i) {
        sum += x(row, i) * packed(packed_index(column, i, k));
      }
      y.set(sum + (kernel.bias ? bias(column) : 0), row, column);
    }
  }
}

}  // namespace mpitron::kernels

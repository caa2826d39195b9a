#include "kernels/experts/permute.h"

#include <vector>

#include "kernels/reference/common/elements.h"

namespace mpitron::kernels {

using reference::Reader;
using reference::Writer;

/// Copies rows; row -1 is padding: zeros.
void run(device::ReferenceStream&, const Permute& kernel) {
  const Reader x(kernel.x), rows(kernel.rows);
  const Writer y(kernel.y);
  for (Index i = 0; i < kernel.rows.numel(); ++i) {
    const auto row = static_cast<Index>(rows(i));
    for (Index column = 0; column < kernel.x.size(1); ++column) {
      y.set(row < 0 ? 0 : x(row, column), i, column);
    }
  }
}

/// Sums a token's visits in the order of rows, in double.
void run(device::ReferenceStream&, const Unpermute& kernel) {
  const Reader y(kernel.y), rows(kernel.rows);
  const Writer x(kernel.x);
  const Index h = kernel.x.size(1);
  std::vector<double> sums(static_cast<std::size_t>(kernel.x.numel()));
  for (Index i = 0; i < kernel.rows.numel(); ++i) {
    const auto row = static_cast<Index>(rows(i));
    for (Index column = 0; row >= 0 && column < h; ++column) {
      sums[static_cast<std::size_t>(row * h + column)] += y(i, column);
    }
  }
  for (std::size_t i = 0; i < sums.size(); ++i) {
    x.set(sums[i], static_cast<Index>(i) / h, static_cast<Index>(i) % h);
  }
}

/// y = x factor, row by row.
void run(device::ReferenceStream&, const ScaleRows& kernel) {
  const Reader x(kernel.x), factors(kernel.factors);
  const Writer y(kernel.y);
  for (Index i = 0; i < kernel.x.size(0); ++i) {
    for (Index column = 0; column < kernel.x.size(1); ++column) {
      y.set(x(i, column) * factors(i), i, column);
    }
  }
}

/// Writes both gradients; the factor's is the row's dot product, in double.
void run(device::ReferenceStream&, const ScaleRowsBackward& kernel) {
  const Reader dy(kernel.dy), x(kernel.x), factors(kernel.factors);
  const Writer dx(kernel.dx), dfactors(kernel.dfactors);
  for (Index i = 0; i < kernel.x.size(0); ++i) {
    double sum = 0;
    for (Index column = 0; column < kernel.x.size(1); ++column) {
      const double gradient = dy(i, column);
      sum += gradient * x(i, column);
      dx.set(gradient * factors(i), i, column);
    }
    dfactors.set(sum, i);
  }
}

}  // namespace mpitron::kernels

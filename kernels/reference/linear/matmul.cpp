#include "kernels/linear/matmul.h"

#include "kernels/reference/common/activation_math.h"
#include "kernels/reference/common/elements.h"

namespace mpitron::kernels {

using reference::Reader;
using reference::Writer;

namespace {

/// Loads op(view) as a dense row-major matrix: loading each element once keeps the oracle usable.
std::vector<double> load_matrix(const In& view, bool transpose) {
  const Reader element(view);
  const Index rows = view.size(transpose ? 1 : 0);
  const Index columns = view.size(transpose ? 0 : 1);
  std::vector<double> matrix(static_cast<std::size_t>(rows * columns));
  for (Index row = 0; row < rows; ++row) {
    for (Index column = 0; column < columns; ++column) {
      matrix[static_cast<std::size_t>(row * columns + column)] =
          transpose ? element(column, row) : element(row, column);
    }
  }
  return matrix;
}

/// Sums over k in order, in double.
double dot(const double* a, const double* b, Index k) {
  double sum = 0;
  for (Index i = 0; i < k; ++i) {
    sum += a[i] * b[i];
  }
  return sum;
}

}  // namespace

/// One rounding behind the whole sum; with `accumulate` the old value takes part in it.
void run(device::ReferenceStream&, const Matmul& kernel) {
  check(kernel);
  const Index m = kernel.c.size(0);
  const Index n = kernel.c.size(1);
  const Index k = kernel.a.size(kernel.transpose_a ? 0 : 1);
  const std::vector<double> a = load_matrix(kernel.a, kernel.transpose_a);
  const std::vector<double> b_transposed = load_matrix(kernel.b, !kernel.transpose_b);
  const Reader bias(kernel.bias);
  const Writer c(kernel.c);
  for (Index row = 0; row < m; ++row) {
    for (Index column = 0; column < n; ++column) {
      const double product = dot(a.data() + row * k, b_transposed.data() + column * k, k);
      if (kernel.accumulate) {
        c.add(product, row, column);
      } else {
        const double z = product + (bias ? bias(column) : 0);
        c.set(reference::activate(kernel.activation, z), row, column);
      }
    }
  }
}

/// Sums over all rows in double.
void run(device::ReferenceStream&, const BiasGradient& kernel) {
  const Reader dy(kernel.dy);
  const Writer db(kernel.db);
  for (Index column = 0; column < kernel.dy.size(-1); ++column) {
    double sum = kernel.accumulate ? db(column) : 0;
    for (Index row = 0; row < reference::rows_of(kernel.dy); ++row) {
      sum += dy(row, column);
    }
    db.set(sum, column);
  }
}

}  // namespace mpitron::kernels

#include "kernels/host/common/fp64.h"

#include <algorithm>

#include "kernels/host/common/views.h"
#include "kernels/linear/matmul.h"

namespace mpitron::kernels::host {
namespace {

/// A tile of c that stays in registers, and how much of b is brought into its order at a time.
constexpr Index kTileRows = 4, kTileColumns = 16, kDepth = 128;
/// Rows for which b is brought into order once.
constexpr Index kBlockRows = 64;

struct Matrix {
  const double* data;
  Index row_stride, column_stride;

  explicit Matrix(const In& view, bool transpose)
      : data(view.as<double>()),
        row_stride(view.stride(transpose ? 1 : 0)),
        column_stride(view.stride(transpose ? 0 : 1)) {}
  double operator()(Index row, Index column) const {
    return data[row * row_stride + column * column_stride];
  }
};

/// A part of c: the sums over a range of k.
struct Part {
  Index row, rows, column, columns, k, depth;
  bool first;  // c starts at 0
};

/// rows <= kTileRows rows of the part; `b` is [depth, kTileColumns].
void add_tile(const Matrix& a, const double* b, const Out& c, const Part& part) {
  double sums[kTileRows][kTileColumns] = {};
  double* const to = c.as<double>() + part.row * c.stride(0) + part.column;
  for (Index i = 0; !part.first && i < part.rows; ++i) {
    std::copy_n(to + i * c.stride(0), part.columns, sums[i]);
  }
  for (Index k = 0; k < part.depth; ++k) {
    for (Index i = 0; i < kTileRows; ++i) {
      const double x = a(part.row + std::min(i, part.rows - 1), part.k + k);
      for (Index j = 0; j < kTileColumns; ++j) {
        sums[i][j] += x * b[k * kTileColumns + j];
      }
    }
  }
  for (Index i = 0; i < part.rows; ++i) {
    std::copy_n(sums[i], part.columns, to + i * c.stride(0));
  }
}

/// Columns beyond the last are zeros.
void order(const Matrix& b, const Part& part, double* to) {
  for (Index k = 0; k < part.depth; ++k) {
    for (Index j = 0; j < kTileColumns; ++j) {
      to[k * kTileColumns + j] = j < part.columns ? b(part.k + k, part.column + j) : 0;
    }
  }
}

}  // namespace

void multiply_fp64(const Matmul& kernel) {
  if (kernel.c.dtype != DType::f64 || kernel.bias || kernel.activation != Activation::none) {
    run_fp64(kernel, kernel.a.dtype);
    return;
  }
  const Matrix a(kernel.a, kernel.transpose_a), b(kernel.b, kernel.transpose_b);
  const Index m = kernel.c.size(0), n = kernel.c.size(1);
  const Index depth = kernel.a.size(kernel.transpose_a ? 0 : 1);
  const Index row_blocks = (m + kBlockRows - 1) / kBlockRows;
  const Index column_blocks = (n + kTileColumns - 1) / kTileColumns;
  for_blocks(row_blocks * column_blocks, m * n * depth, [&](Index block) {
    Part part{.row = block / column_blocks * kBlockRows,
              .column = block % column_blocks * kTileColumns};
    const Index first_row = part.row, end = std::min(m, first_row + kBlockRows);
    part.columns = std::min(kTileColumns, n - part.column);
    double ordered[kDepth * kTileColumns];
    // Once also without elements to add: c = 0.
    for (part.k = 0; part.k == 0 || part.k < depth; part.k += kDepth) {
      part.depth = std::min(kDepth, depth - part.k);
      part.first = part.k == 0 && !kernel.accumulate;
      order(b, part, ordered);
      for (part.row = first_row; part.row < end; part.row += kTileRows) {
        part.rows = std::min(kTileRows, end - part.row);
        add_tile(a, ordered, kernel.c, part);
      }
    }
  });
}

}  // namespace mpitron::kernels::host

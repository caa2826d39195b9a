#pragma once
#include <algorithm>

#include "utils/numbers/shape.h"

namespace mpitron::kernels::host {

/// The left factor of a product: element (i, l) stands at data[i * row + l * column].
template <class Real>
struct LeftFactor {
  const Real* data;
  Index row, column;
};

template <class Real>
LeftFactor<Real> as_it_is(const Real* data, Index columns) {
  return {data, columns, 1};
}
template <class Real>
LeftFactor<Real> turned(const Real* data, Index columns) {
  return {data, 1, columns};
}

namespace detail {

/// Up to kRows x kColumns numbers of c in registers.
template <class Real, Index kRows, Index kColumns>
inline void add_block(Index depth, const LeftFactor<Real>& a, const Real* b, Index b_row, Real* c,
                      Index c_row) {
  Real sums[kRows][kColumns] = {};
  for (Index l = 0; l < depth; ++l) {
    for (Index i = 0; i < kRows; ++i) {
      const Real factor = a.data[i * a.row + l * a.column];
      for (Index j = 0; j < kColumns; ++j) {
        sums[i][j] += factor * b[l * b_row + j];
      }
    }
  }
  for (Index i = 0; i < kRows; ++i) {
    for (Index j = 0; j < kColumns; ++j) {
      c[i * c_row + j] += sums[i][j];
    }
  }
}

}  // namespace detail

/// c [m, n] += a [m, k] b [k, n], rows of b and c contiguous: products of factors that stay in the
/// caches. Sums run over k in order, whatever m and n are.
template <class Real>
void add_product(const Shape& mnk, const LeftFactor<Real>& a, const Real* b, Real* c) {
  constexpr Index kRows = 4, kColumns = 128 / static_cast<Index>(sizeof(Real));
  const Index m = mnk[0], n = mnk[1], k = mnk[2];
  for (Index i = 0; i < m;) {
    const LeftFactor<Real> rows{a.data + i * a.row, a.row, a.column};
    const bool many = m - i >= kRows;
    Index j = 0;
    for (; j + kColumns <= n; j += kColumns) {
      many ? detail::add_block<Real, kRows, kColumns>(k, rows, b + j, n, c + i * n + j, n)
           : detail::add_block<Real, 1, kColumns>(k, rows, b + j, n, c + i * n + j, n);
    }
    for (; j + 4 <= n; j += 4) {
      many ? detail::add_block<Real, kRows, 4>(k, rows, b + j, n, c + i * n + j, n)
           : detail::add_block<Real, 1, 4>(k, rows, b + j, n, c + i * n + j, n);
    }
    for (; j < n; ++j) {
      many ? detail::add_block<Real, kRows, 1>(k, rows, b + j, n, c + i * n + j, n)
           : detail::add_block<Real, 1, 1>(k, rows, b + j, n, c + i * n + j, n);
    }
    i += many ? kRows : 1;
  }
}

/// to [columns, rows] = from [rows, columns], turned.
template <class Real>
void turn(Index rows, Index columns, const Real* from, Real* to) {
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < columns; ++j) {
      to[j * rows + i] = from[i * columns + j];
    }
  }
}

}  // namespace mpitron::kernels::host

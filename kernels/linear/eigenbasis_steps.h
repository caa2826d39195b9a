#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

#include "kernels/linear/eigenbasis.h"

namespace mpitron::kernels {

// Parts of eigenbasis.h that are alike on every device: what is done with rows that a device makes
// orthogonal in its own way.

/// The sum of x[i] y[i], in eight interleaved parts.
inline double dot_of_rows(const double* x, const double* y, Index n) {
  constexpr Index kLanes = 8;
  double sums[kLanes] = {};
  Index i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (Index lane = 0; lane < kLanes; ++lane) {
      sums[lane] += x[i + lane] * y[i + lane];
    }
  }
  for (; i < n; ++i) {
    sums[i % kLanes] += x[i] * y[i];
  }
  return std::accumulate(sums, sums + kLanes, 0.0);
}

/// (x, y) <- (c x - s y, s x + c y).
inline void rotate(double* x, double* y, Index n, double c, double s) {
  for (Index i = 0; i < n; ++i) {
    const double old = x[i];
    x[i] = c * old - s * y[i];
    y[i] = s * old + c * y[i];
  }
}

/// The rotation that makes [[a, c], [c, b]] diagonal (Golub and Van Loan, 8.5.2).
struct Rotation {
  double cosine = 1, sine = 0;
  Rotation(double a, double b, double c) {
    const double ratio = (b - a) / (2 * c);
    const double tangent =
        std::copysign(1, ratio) / (std::abs(ratio) + std::sqrt(1 + ratio * ratio));
    cosine = 1 / std::sqrt(1 + tangent * tangent);
    sine = cosine * tangent;
  }
};

/// Rows of a symmetric matrix x [n, n], which are rotated until they are orthogonal, and rows of
/// `vectors` [n, width], which turn with them. Row i of x ends as an eigenvalue times an
/// eigenvector in either basis, so that its length is the eigenvalue.
struct Turned {
  double* x;
  double* vectors;
  Index n, width;

  double* row(Index i) const { return x + i * n; }
  double* vector(Index i) const { return vectors + i * width; }
  double value(Index i) const { return std::sqrt(dot_of_rows(row(i), row(i), n)); }
};

/// Brings the rows into descending order of their values.
inline void sort_rows(const Turned& rows) {
  for (Index i = 0; i < rows.n; ++i) {
    Index largest = i;
    for (Index j = i + 1; j < rows.n; ++j) {
      largest = rows.value(j) > rows.value(largest) ? j : largest;
    }
    if (largest != i) {
      std::swap_ranges(rows.row(i), rows.row(i) + rows.n, rows.row(largest));
      std::swap_ranges(rows.vector(i), rows.vector(i) + rows.width, rows.vector(largest));
    }
  }
}

/// diagonalise(Turned) makes the rows orthogonal.
template <class Diagonalise>
void find_eigenvectors(const Eigenvectors& k, const Diagonalise& diagonalise) {
  const Index n = k.x.size(0);
  auto *memory = k.workspace.as<double>(), *vectors = k.vectors.as<double>();
  const auto diagonal = [n](Index i) {
    return static_cast<double>(i + 1) / static_cast<double>(n);
  };
  std::copy_n(k.x.as<double>(), n * n, memory);
  std::fill_n(vectors, n * n, 0.0);
  for (Index i = 0; i < n; ++i) {
    vectors[i * n + i] = 1;
  }
  const Turned rows{memory, vectors, n, n};
  diagonalise(rows);
  sort_rows(rows);
  Index rank = 0;
  for (const double least = 1e-12 * rows.value(0); rank < n && rows.value(rank) > least; ++rank) {
  }
  std::fill_n(k.present.as<double>(), rank, 1.0);
  std::fill_n(k.present.as<double>() + rank, n - rank, 0.0);
  const Turned rest{memory, vectors + rank * n, n - rank, n};
  for (Index i = 0; i < rest.n; ++i) {
    for (Index j = 0; j < rest.n; ++j) {
      double sum = 0;
      for (Index at = 0; at < n; ++at) {
        sum += diagonal(at) * rest.vector(i)[at] * rest.vector(j)[at];
      }
      rest.row(i)[j] = sum;
    }
  }
  diagonalise(rest);
  sort_rows(rest);
  for (Index i = 0; i < n; ++i) {
    double* const v = vectors + i * n;
    const double largest =
        *std::max_element(v, v + n, [](double a, double b) { return std::abs(a) < std::abs(b); });
    std::transform(v, v + n, v, [largest](double x) { return largest < 0 ? -x : x; });
  }
}

/// Quotients below 1e-13 of the largest are rounding, and 0.
inline void find_quotients(const double* vectors, const double* products, double* values, Index n) {
  for (Index i = 0; i < n; ++i) {
    values[i] = dot_of_rows(vectors + i * n, products + i * n, n);
  }
  const double least = 1e-13 * std::max(0.0, *std::max_element(values, values + n));
  std::replace_if(
      values, values + n, [least](double value) { return value < least; }, 0.0);
}

/// project(row, rows, count, n, workspace) takes from a row what it has of `count` orthogonal ones.
template <class Project>
void step_eigenvectors(const EigenvectorStep& k, const Project& project) {
  const Index n = k.vectors.size(0);
  const auto *vectors = k.vectors.as<double>(), *products = k.products.as<double>();
  auto *next = k.next.as<double>(), *memory = k.workspace.as<double>();
  auto* const order = k.order.as<std::int64_t>();
  find_quotients(vectors, products, memory, n);
  std::iota(order, order + n, std::int64_t{0});
  std::sort(order, order + n, [memory](std::int64_t a, std::int64_t b) {
    return memory[a] != memory[b] ? memory[a] > memory[b] : a < b;
  });
  const auto length = [n](const double* row) { return std::sqrt(dot_of_rows(row, row, n)); };
  double longest = 0;
  for (Index i = 0; i < n; ++i) {
    longest = std::max(longest, length(products + i * n));
  }
  for (Index i = 0; i < n; ++i) {
    double* const row = next + i * n;
    const auto rest = [&] {
      project(row, next, i, n, memory);
      project(row, next, i, n, memory);
      return length(row);
    };
    std::copy_n(products + order[i] * n, n, row);
    const bool present = rest() > 1e-13 * longest;
    k.present.as<double>()[i] = present ? 1 : 0;
    if (!present) {
      std::copy_n(vectors + order[i] * n, n, row);
      for (Index unit = 0; unit < n && rest() * std::sqrt(static_cast<double>(n)) < 0.5; ++unit) {
        std::fill_n(row, n, 0.0);
        row[unit] = 1;
      }
    }
    for (int time = 0; time < 2; ++time) {
      const double size = length(row);
      std::transform(row, row + n, row, [size](double x) { return x / size; });
      project(row, next, time == 0 ? i : 0, n, memory);
    }
  }
}

}  // namespace mpitron::kernels

#include "kernels/linear/eigenbasis.h"

#include "kernels/linear/eigenbasis_steps.h"

// Eigenvectors as in textbooks: Jacobi's rotations of rows and columns, projections one by one.

namespace mpitron::kernels {
namespace {

constexpr int kSweeps = 100;

/// Rotates rows and columns p and q until what lies beside the diagonal is rounding.
bool rotated(const Turned& rows, Index p, Index q) {
  const auto at = [&](Index i, Index j) -> double& { return rows.row(i)[j]; };
  const double scale = std::sqrt(std::abs(at(p, p) * at(q, q)));
  if (std::abs(at(p, q)) <= 1e-16 * scale || std::abs(at(p, q)) < 1e-290) {
    return false;
  }
  const Rotation by(at(p, p), at(q, q), at(p, q));
  rotate(rows.row(p), rows.row(q), rows.n, by.cosine, by.sine);
  for (Index i = 0; i < rows.n; ++i) {
    rotate(&at(i, p), &at(i, q), 1, by.cosine, by.sine);
  }
  rotate(rows.vector(p), rows.vector(q), rows.width, by.cosine, by.sine);
  return true;
}

void diagonalise(const Turned& rows) {
  bool again = true;
  for (int sweep = 0; sweep < kSweeps && again; ++sweep) {
    again = false;
    for (Index p = 0; p < rows.n; ++p) {
      for (Index q = p + 1; q < rows.n; ++q) {
        again |= rotated(rows, p, q);
      }
    }
  }
}

void project(double* row, const double* rows, Index count, Index n, double*) {
  for (Index other = 0; other < count; ++other) {
    const double along = dot_of_rows(row, rows + other * n, n);
    std::transform(row, row + n, rows + other * n, row,
                   [along](double a, double b) { return a - along * b; });
  }
}

}  // namespace

void run(device::ReferenceStream&, const Eigenvectors& k) {
  find_eigenvectors(k, diagonalise);
}

void run(device::ReferenceStream&, const EigenvectorStep& k) {
  step_eigenvectors(k, project);
}

}  // namespace mpitron::kernels

// Eigenvectors on the host: one-sided Jacobi rotations (Hestenes 1958), which touch rows alone, in
// rounds of pairs that have no row in common. Threads share pairs, rows and columns, so that the
// bits do not depend on their number.
#include "kernels/linear/eigenbasis.h"

#include <atomic>

#include "kernels/host/common/parallel.h"
#include "kernels/linear/eigenbasis_steps.h"

namespace mpitron::kernels {
namespace host {
namespace {

constexpr int kSweeps = 60;

/// Makes two rows orthogonal. Rows of rounding alone, below `least`, stay as they are.
bool rotated(const Turned& rows, Index p, Index q, double least) {
  double *x = rows.row(p), *y = rows.row(q);
  const double a = dot_of_rows(x, x, rows.n), b = dot_of_rows(y, y, rows.n),
               c = dot_of_rows(x, y, rows.n);
  if (std::abs(c) <= 1e-15 * std::sqrt(a * b) || std::max(a, b) <= least) {
    return false;
  }
  const Rotation by(a, b, c);
  rotate(x, y, rows.n, by.cosine, by.sine);
  rotate(rows.vector(p), rows.vector(q), rows.width, by.cosine, by.sine);
  return true;
}

/// All rows meet each other once a sweep: one stays, the others go round it.
void diagonalise(const Turned& rows) {
  const Index players = rows.n + rows.n % 2, others = players - 1;
  double least = 0;
  for (Index i = 0; i < rows.n; ++i) {
    least = std::max(least, dot_of_rows(rows.row(i), rows.row(i), rows.n));
  }
  least *= 1e-32;
  std::atomic<bool> again = true;
  for (int sweep = 0; sweep < kSweeps && again; ++sweep) {
    again = false;
    for (Index round = 0; round < others; ++round) {
      for_blocks(players / 2, players * (rows.n + rows.width), [&](Index pair) {
        const Index one = pair == 0 ? others : (round + pair) % others;
        const Index other = (round + others - pair) % others;
        const Index p = std::min(one, other), q = std::max(one, other);
        if (q < rows.n && rotated(rows, p, q, least)) {
          again = true;
        }
      });
    }
  }
}

/// Takes all projections at once: threads share the rows, then the columns.
void project(double* row, const double* rows, Index count, Index n, double* along) {
  for_blocks(count, count * n,
             [&](Index other) { along[other] = dot_of_rows(row, rows + other * n, n); });
  for_ranges(n, count * n, [&](Index begin, Index end) {
    for (Index other = 0; other < count; ++other) {
      const double* const x = rows + other * n;
      for (Index i = begin; i < end; ++i) {
        row[i] -= along[other] * x[i];
      }
    }
  });
}

}  // namespace
}  // namespace host

void run(device::HostStream&, const Eigenvectors& k) {
  find_eigenvectors(k, host::diagonalise);
}

void run(device::HostStream&, const EigenvectorStep& k) {
  step_eigenvectors(k, host::project);
}

}  // namespace mpitron::kernels

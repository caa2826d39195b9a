#include "plan/published/least_squares.h"

// The linear solver of the fit; its matrices have a row for each fitted parameter.

namespace mpitron::plan {

/// Factors by Cholesky, and substitutes forwards and backwards.
bool solve_symmetric(std::vector<double> a, std::vector<double>& b) {
  const std::size_t n = b.size();
  for (std::size_t j = 0; j < n; ++j) {  // a = l l^T, l in the lower half
    double diagonal = a[j * n + j];
    for (std::size_t k = 0; k < j; ++k) {
      diagonal -= a[j * n + k] * a[j * n + k];
    }
    if (diagonal <= 0) {
      return false;
    }
    const double root = std::sqrt(diagonal);
    a[j * n + j] = root;
    for (std::size_t i = j + 1; i < n; ++i) {
      double sum = a[i * n + j];
      for (std::size_t k = 0; k < j; ++k) {
        sum -= a[i * n + k] * a[j * n + k];
      }
      a[i * n + j] = sum / root;
    }
  }
  for (std::size_t i = 0; i < n; ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      b[i] -= a[i * n + k] * b[k];
    }
    b[i] /= a[i * n + i];
  }
  for (std::size_t i = n; i-- > 0;) {
    for (std::size_t k = i + 1; k < n; ++k) {
      b[i] -= a[k * n + i] * b[k];
    }
    b[i] /= a[i * n + i];
  }
  return true;
}

}  // namespace mpitron::plan

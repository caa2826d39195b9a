// Scales rows or columns of a matrix on the host. Threads own lines, so that each is summed in
// order; columns are walked row by row, as they lie.
#include "kernels/linear/moment_scale.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "kernels/host/common/parallel.h"

namespace mpitron::kernels {
namespace host {
namespace {

double square(float x) {
  return static_cast<double>(x) * static_cast<double>(x);
}

/// Takes the mean square of a line into its average, and returns what the line is divided by.
double next_root(const MomentScale& k, Index line, double mean) {
  float& moment = k.moments.as<float>()[line];
  const double next = k.beta * static_cast<double>(moment) + (1 - k.beta) * mean;
  moment = static_cast<float>(next);
  return std::sqrt(std::max(next, k.eps));
}

float divided(float x, double root) {
  return static_cast<float>(static_cast<double>(x) / root);
}

void scale_rows(const MomentScale& k) {
  const Index m = k.x.size(0), n = k.x.size(1);
  for_ranges(m, 2 * m * n, [&](Index begin, Index end) {
    for (Index row = begin; row < end; ++row) {
      const float* x = k.x.as<float>() + row * n;
      double squares = 0;
      for (Index j = 0; j < n; ++j) {
        squares += square(x[j]);
      }
      const double root = next_root(k, row, squares / static_cast<double>(n));
      std::transform(x, x + n, k.y.as<float>() + row * n,
                     [root](float value) { return divided(value, root); });
    }
  });
}

constexpr Index kTogether = 64;

void scale_columns(const MomentScale& k) {
  const Index m = k.x.size(0), n = k.x.size(1);
  for_blocks((n + kTogether - 1) / kTogether, 2 * m * n, [&](Index block) {
    const Index first = block * kTogether, count = std::min(kTogether, n - first);
    std::array<double, kTogether> roots{};
    const float* x = k.x.as<float>() + first;
    for (Index i = 0; i < m; ++i) {
      std::transform(x + i * n, x + i * n + count, roots.begin(), roots.begin(),
                     [](float value, double sum) { return sum + square(value); });
    }
    for (Index j = 0; j < count; ++j) {
      double& root = roots[static_cast<std::size_t>(j)];
      root = next_root(k, first + j, root / static_cast<double>(m));
    }
    for (Index i = 0; i < m; ++i) {
      std::transform(x + i * n, x + i * n + count, roots.begin(), k.y.as<float>() + i * n + first,
                     divided);
    }
  });
}

}  // namespace
}  // namespace host

void run(device::HostStream&, const MomentScale& k) {
  k.columns ? host::scale_columns(k) : host::scale_rows(k);
}

}  // namespace mpitron::kernels

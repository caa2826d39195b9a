// Computes the loss of direct preference optimisation on the host, in fp64. Threads own columns
// (sequences), so that each is summed in the order of its rows.
#include "kernels/elementwise/preference.h"

#include <algorithm>
#include <cmath>

#include "kernels/elementwise/softplus.h"
#include "kernels/host/common/parallel.h"

namespace mpitron::kernels {
using host::for_ranges;

void run(device::HostStream&, const WeightedColumnSums& k) {
  const auto *x = k.x.as<float>(), *weights = k.weights.as<float>();
  auto* sums = k.sums.as<double>();
  const Index s = k.x.size(0), b = k.x.size(1);
  for_ranges(b, s * b, [&](Index begin, Index end) {
    std::fill(sums + begin, sums + end, 0.0);
    for (Index i = 0; i < s; ++i) {
      for (Index j = begin; j < end; ++j) {
        sums[j] += static_cast<double>(weights[i * b + j]) * static_cast<double>(x[i * b + j]);
      }
    }
  });
}

/// Takes a handful of numbers for each sequence: the calling thread does them.
void run(device::HostStream&, const PreferenceForward& k) {
  const double e = k.label_smoothing;
  for (Index j = 0; j < k.sums.numel(); ++j) {
    const double m =
        k.beta * (-k.sums.as<double>()[j] - static_cast<double>(k.reference.as<float>()[j]));
    const double wrong = 1 / (1 + std::exp(m));
    k.loss.as<float>()[j] = static_cast<float>((1 - e) * softplus(-m) + e * softplus(m));
    k.margin.as<float>()[j] = static_cast<float>(m);
    k.right.as<float>()[j] = m > 0 ? 1.f : 0.f;
    k.slope.as<float>()[j] = static_cast<float>(k.beta * ((1 - e) * wrong - e * (1 - wrong)));
  }
}

void run(device::HostStream&, const PreferenceBackward& k) {
  const auto *weights = k.weights.as<float>(), *slope = k.slope.as<float>();
  const auto* dloss = k.dloss.as<float>();
  auto* dx = k.dx.as<float>();
  const Index s = k.weights.size(0), b = k.weights.size(1);
  for_ranges(s, s * b, [&](Index begin, Index end) {
    for (Index i = begin * b; i < end * b; ++i) {
      const double each = k.factor * static_cast<double>(slope[i % b]);
      dx[i] = static_cast<float>(each * static_cast<double>(weights[i]) *
                                 static_cast<double>(dloss[i % b]));
    }
  });
}

}  // namespace mpitron::kernels

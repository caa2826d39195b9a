#include "kernels/elementwise/soft_targets.h"

#include <algorithm>
#include <cmath>

#include "kernels/elementwise/rows.h"
#include "kernels/reference/common/elements.h"

namespace mpitron::kernels {

using reference::Reader;
using reference::Writer;

namespace {

/// Returns log sum exp of f(k) for k < count.
template <class F>
double log_sum_exp(Index count, const F& f) {
  double largest = f(0);
  for (Index k = 1; k < count; ++k) {
    largest = std::max(largest, f(k));
  }
  double sum = 0;
  for (Index k = 0; k < count; ++k) {
    sum += std::exp(f(k) - largest);
  }
  return largest + std::log(sum);
}

/// Returns p of the contract: the mean of the rows that `sources` names.
double mean_target(const Reader& targets, const Reader& sources, Index t, Index k) {
  double sum = 0, count = 0;
  for (Index source = 0; source < 2; ++source) {
    if (const auto row = static_cast<Index>(sources(t, source)); row >= 0) {
      sum += targets(row, k);
      ++count;
    }
  }
  return sum / count;
}

}  // namespace

void run(device::ReferenceStream&, const SharpSoftmax& kernel) {
  const Reader x(kernel.x), centre(kernel.centre);
  const Writer y(kernel.y);
  const Index v = kernel.x.size(-1);
  for (Index t = 0; t < row_count(kernel.x); ++t) {
    const auto sharp = [&](Index k) {
      return (x(t, k) - centre(k)) / static_cast<double>(kernel.temperature);
    };
    const double lse = log_sum_exp(v, sharp);
    for (Index k = 0; k < v; ++k) {
      y.set(std::exp(sharp(k) - lse), t, k);
    }
  }
}

void run(device::ReferenceStream&, const SoftTargetForward& kernel) {
  const Reader logits(kernel.logits), targets(kernel.targets), sources(kernel.sources);
  const Writer loss(kernel.loss), lse(kernel.lse);
  const Index v = kernel.logits.size(-1);
  for (Index t = 0; t < row_count(kernel.logits); ++t) {
    const auto sharp = [&](Index k) {
      return logits(t, k) / static_cast<double>(kernel.temperature);
    };
    const double sum = log_sum_exp(v, sharp);
    double entropy = 0;
    for (Index k = 0; k < v; ++k) {
      entropy += mean_target(targets, sources, t, k) * (sum - sharp(k));
    }
    loss.set(entropy, t);
    lse.set(sum, t);
  }
}

void run(device::ReferenceStream&, const SoftTargetBackward& kernel) {
  const Reader logits(kernel.logits), targets(kernel.targets), sources(kernel.sources);
  const Reader lse(kernel.lse), dloss(kernel.dloss);
  const Writer dlogits(kernel.dlogits);
  const auto temperature = static_cast<double>(kernel.temperature);
  const Index v = kernel.logits.size(-1);
  for (Index t = 0; t < row_count(kernel.logits); ++t) {
    for (Index k = 0; k < v; ++k) {
      const double p = std::exp(logits(t, k) / temperature - lse(t));
      dlogits.set(dloss(t) / temperature * (p - mean_target(targets, sources, t, k)), t, k);
    }
  }
}

}  // namespace mpitron::kernels

#include "kernels/cross_entropy.h"

#include <algorithm>
#include <cmath>

#include "kernels/reference/elements.h"

namespace mpitron::kernels {

using reference::Reader;
using reference::Writer;

namespace {

/// a' = a v / (v - 1): the smoothed target gives the label 1 - a' + a' / v.
double smoothing_of(float label_smoothing, Index v) {
  return label_smoothing == 0 ? 0
                              : static_cast<double>(label_smoothing) * static_cast<double>(v) /
                                    static_cast<double>(v - 1);
}

}  // namespace

void run(device::ReferenceStream&, const CrossEntropyForward& kernel) {
  const Reader logits(kernel.logits), labels(kernel.labels);
  const Writer loss(kernel.loss), lse(kernel.lse);
  const Index v = kernel.logits.size(-1);
  const double smoothing = smoothing_of(kernel.label_smoothing, v);
  for (Index t = 0; t < reference::rows_of(kernel.logits); ++t) {
    double largest = logits(t, 0);
    double mean = 0;
    for (Index k = 0; k < v; ++k) {
      largest = std::max(largest, logits(t, k));
      mean += logits(t, k) / static_cast<double>(v);
    }
    double sum = 0;
    for (Index k = 0; k < v; ++k) {
      sum += std::exp(logits(t, k) - largest);
    }
    const double log_sum = largest + std::log(sum);
    const auto label = static_cast<Index>(labels(t));
    const double target = 0 <= label && label < v ? logits(t, label) : largest;
    loss.set((1 - smoothing) * (log_sum - target) + smoothing * (log_sum - mean), t);
    lse.set(log_sum, t);
  }
}

void run(device::ReferenceStream&, const CrossEntropyBackward& kernel) {
  const Reader logits(kernel.logits), labels(kernel.labels), lse(kernel.lse), dloss(kernel.dloss);
  const Writer dlogits(kernel.dlogits);
  const Index v = kernel.logits.size(-1);
  const double smoothing = smoothing_of(kernel.label_smoothing, v);
  for (Index t = 0; t < reference::rows_of(kernel.logits); ++t) {
    const auto label = static_cast<Index>(labels(t));
    for (Index k = 0; k < v; ++k) {
      const double target = (k == label ? 1 - smoothing : 0) + smoothing / static_cast<double>(v);
      dlogits.set(dloss(t) * (std::exp(logits(t, k) - lse(t)) - target), t, k);
    }
  }
}

}  // namespace mpitron::kernels

#include "kernels/elementwise/cross_entropy.h"

#include <algorithm>
#include <cmath>

#include "kernels/reference/common/elements.h"

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

/// loss = lse - logit of the label, smoothed over the vocabulary where asked for.
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

/// Writes the numbers that a rank knows of its rows: largest, sum of exponentials, the label's
/// logit, sum of logits.
void run(device::ReferenceStream&, const CrossEntropySums& kernel) {
  const Reader logits(kernel.logits), labels(kernel.labels);
  const Writer sums(kernel.sums);
  const Index v = kernel.logits.size(-1);
  for (Index t = 0; t < reference::rows_of(kernel.logits); ++t) {
    double largest = logits(t, 0);
    double plain = 0;
    for (Index k = 0; k < v; ++k) {
      largest = std::max(largest, logits(t, k));
      plain += logits(t, k);
    }
    double sum = 0;
    for (Index k = 0; k < v; ++k) {
      sum += std::exp(logits(t, k) - largest);
    }
    const Index column = static_cast<Index>(labels(t)) - kernel.first_column;
    sums.set(largest, t, 0);
    sums.set(sum, t, 1);
    sums.set(0 <= column && column < v ? logits(t, column) : 0, t, 2);
    sums.set(kernel.plain_sum ? plain : 0, t, 3);
  }
}

/// Joins the ranks' numbers as one row's would be.
void run(device::ReferenceStream&, const CrossEntropyJoin& kernel) {
  const Reader sums(kernel.sums), labels(kernel.labels);
  const Writer loss(kernel.loss), lse(kernel.lse);
  const auto v = static_cast<double>(kernel.vocabulary);
  const double smoothing = smoothing_of(kernel.label_smoothing, kernel.vocabulary);
  for (Index t = 0; t < kernel.labels.numel(); ++t) {
    double largest = sums(0, t, 0);
    for (Index rank = 0; rank < kernel.sums.size(0); ++rank) {
      largest = std::max(largest, sums(rank, t, 0));
    }
    double sum = 0, target = 0, plain = 0;
    for (Index rank = 0; rank < kernel.sums.size(0); ++rank) {
      const bool masked = std::isinf(sums(rank, t, 0));  // all logits of this rank
      sum += masked ? 0 : sums(rank, t, 1) * std::exp(sums(rank, t, 0) - largest);
      target += sums(rank, t, 2);
      plain += sums(rank, t, 3);
    }
    const auto label = static_cast<Index>(labels(t));
    const double log_sum = largest + std::log(sum);
    const double of_label = log_sum - (0 <= label && label < kernel.vocabulary ? target : largest);
    loss.set((1 - smoothing) * of_label + smoothing * (log_sum - plain / v), t);
    lse.set(log_sum, t);
  }
}

/// dlogits = (softmax - target) dloss; smoothing spreads the target.
void run(device::ReferenceStream&, const CrossEntropyBackward& kernel) {
  const Reader logits(kernel.logits), labels(kernel.labels), lse(kernel.lse), dloss(kernel.dloss);
  const Writer dlogits(kernel.dlogits);
  const Index v = kernel.logits.size(-1);
  const Index vocabulary = kernel.vocabulary > 0 ? kernel.vocabulary : v;
  const double smoothing = smoothing_of(kernel.label_smoothing, vocabulary);
  for (Index t = 0; t < reference::rows_of(kernel.logits); ++t) {
    const Index label = static_cast<Index>(labels(t)) - kernel.first_column;
    for (Index k = 0; k < v; ++k) {
      const double target =
          (k == label ? 1 - smoothing : 0) + smoothing / static_cast<double>(vocabulary);
      dlogits.set(dloss(t) * (std::exp(logits(t, k) - lse(t)) - target), t, k);
    }
  }
}

}  // namespace mpitron::kernels

#include "kernels/elementwise/row_error.h"

#include "kernels/elementwise/rows.h"
#include "kernels/reference/common/elements.h"

namespace mpitron::kernels {

using reference::Reader;
using reference::Writer;

/// error = factor sum (x - target)^2, over the row in order, in double.
void run(device::ReferenceStream&, const RowErrorForward& k) {
  const Reader x(k.x), target(k.target);
  const Writer error(k.error);
  const Index h = k.x.size(-1);
  for (Index t = 0; t < row_count(k.x); ++t) {
    double sum = 0;
    for (Index i = t * h; i < (t + 1) * h; ++i) {
      sum += (x(i) - target(i)) * (x(i) - target(i));
    }
    error.set(static_cast<double>(k.factor) * sum, t);
  }
}

/// dx = 2 factor (x - target) derror.
void run(device::ReferenceStream&, const RowErrorBackward& k) {
  const Reader x(k.x), target(k.target), derror(k.derror);
  const Writer dx(k.dx);
  const Index h = k.x.size(-1);
  for (Index i = 0; i < k.x.numel(); ++i) {
    dx.set(2 * static_cast<double>(k.factor) * (x(i) - target(i)) * derror(i / h), i);
  }
}

/// Tells whether the largest logit is the label's; of equal ones the first.
void run(device::ReferenceStream&, const LabelMatches& k) {
  const Reader logits(k.logits), labels(k.labels);
  const Writer matches(k.matches);
  const Index v = k.logits.size(-1);
  for (Index t = 0; t < row_count(k.logits); ++t) {
    Index largest = 0;
    for (Index i = 1; i < v; ++i) {
      largest = logits(t * v + i) > logits(t * v + largest) ? i : largest;
    }
    matches.set(largest == static_cast<Index>(labels(t)) ? 1 : 0, t);
  }
}

}  // namespace mpitron::kernels

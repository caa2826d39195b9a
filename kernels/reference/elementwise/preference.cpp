#include "kernels/elementwise/preference.h"

#include <algorithm>
#include <cmath>

#include "kernels/elementwise/softplus.h"
#include "kernels/reference/common/elements.h"

namespace mpitron::kernels {

using reference::Reader;
using reference::Writer;

void run(device::ReferenceStream&, const WeightedColumnSums& k) {
  const Reader x(k.x), weights(k.weights);
  const Writer sums(k.sums);
  const Index s = k.x.size(0), b = k.x.size(1);
  for (Index j = 0; j < b; ++j) {
    double sum = 0;
    for (Index i = 0; i < s; ++i) {
      sum += weights(i, j) * x(i, j);
    }
    sums.set(sum, j);
  }
}

void run(device::ReferenceStream&, const PreferenceForward& k) {
  const Reader sums(k.sums), reference(k.reference);
  const Writer loss(k.loss), margin(k.margin), right(k.right), slope(k.slope);
  const double e = k.label_smoothing;
  for (Index j = 0; j < k.sums.numel(); ++j) {
    const double m = k.beta * (-sums(j) - reference(j));
    const double wrong = 1 / (1 + std::exp(m));  // the probability that it gives the other order
    loss.set((1 - e) * softplus(-m) + e * softplus(m), j);
    margin.set(m, j);
    right.set(m > 0 ? 1 : 0, j);
    slope.set(k.beta * ((1 - e) * wrong - e * (1 - wrong)), j);
  }
}

void run(device::ReferenceStream&, const PreferenceBackward& k) {
  const Reader weights(k.weights), slope(k.slope), dloss(k.dloss);
  const Writer dx(k.dx);
  const Index b = k.weights.size(1);
  for (Index i = 0; i < k.weights.numel(); ++i) {
    dx.set(k.factor * weights(i) * slope(i % b) * dloss(i % b), i);
  }
}

}  // namespace mpitron::kernels

#include "kernels/sparse_attention/index_scores.h"

#include <algorithm>

#include "kernels/reference/common/elements.h"

namespace mpitron::kernels {

using reference::Reader;
using reference::Writer;

namespace {

/// q[i, b, head] . k[j, b].
double product(const In& qk, Index b, Index i, Index head, Index j) {
  const Reader x(qk);
  double sum = 0;
  for (Index c = 0; c < qk.size(3); ++c) {
    sum += x(i, b, head, c) * x(j, b, qk.size(2) - 1, c);
  }
  return sum;
}

}  // namespace

void run(device::ReferenceStream&, const IndexScores& kernel) {
  const Reader weights(kernel.weights);
  const Writer scores(kernel.scores);
  const Index s = kernel.qk.size(0), samples = kernel.qk.size(1);
  for (Index row = 0; row < samples * s; ++row) {
    const Index b = row / s, i = row % s;
    for (Index j = 0; j < s; ++j) {
      double sum = 0;
      for (Index head = 0; j <= i && head < kernel.weights.size(2); ++head) {
        sum += weights(i, b, head) * std::max(product(kernel.qk, b, i, head, j), 0.0);
      }
      scores.set(sum * static_cast<double>(kernel.factor), b, i, j);
    }
  }
}

/// Sums in double, and stores each gradient once.
void run(device::ReferenceStream&, const IndexScoresBackward& kernel) {
  const Reader x(kernel.qk), weights(kernel.weights), dscores(kernel.dscores);
  const Writer dx(kernel.dqk), dweights(kernel.dweights);
  const Index s = kernel.qk.size(0), samples = kernel.qk.size(1), heads = kernel.weights.size(2);
  const Index d = kernel.qk.size(3);
  const auto place = [&](Index i, Index b, Index head) {
    return static_cast<std::size_t>((i * samples + b) * (heads + 1) + head);
  };
  std::vector<double> of_x(static_cast<std::size_t>(kernel.qk.numel()));
  const auto add = [&](std::size_t to, double by, Index i, Index b, Index head) {
    for (Index c = 0; c < d; ++c) {
      of_x[to * static_cast<std::size_t>(d) + static_cast<std::size_t>(c)] += by * x(i, b, head, c);
    }
  };
  for (Index row = 0; row < samples * s * heads; ++row) {
    const Index b = row / heads / s, i = row / heads % s, head = row % heads;
    double of_weight = 0;
    for (Index j = 0; j <= i; ++j) {
      const double dot = product(kernel.qk, b, i, head, j);
      if (dot > 0) {
        const double gradient = dscores(b, i, j) * static_cast<double>(kernel.factor);
        of_weight += gradient * dot;
        add(place(i, b, head), gradient * weights(i, b, head), j, b, heads);
        add(place(j, b, heads), gradient * weights(i, b, head), i, b, head);
      }
    }
    dweights.set(of_weight, i, b, head);
  }
  for (Index i = 0; i < kernel.qk.numel(); ++i) {
    dx.set(of_x[static_cast<std::size_t>(i)], i / d, i % d);
  }
}

}  // namespace mpitron::kernels

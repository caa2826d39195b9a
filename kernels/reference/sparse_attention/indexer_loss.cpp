#include "kernels/sparse_attention/indexer_loss.h"

#include <algorithm>
#include <limits>

#include "kernels/reference/common/elements.h"

namespace mpitron::kernels {

using reference::Reader;
using reference::Writer;

namespace {

constexpr double kSmallest = 1e-10;  // of a probability in front of a logarithm

/// The softmax of score(j) over visible keys, and 0 for all others.
template <class Score>
std::vector<double> softmax(const VisibleKeys& visible, Index s, const Score& score) {
  std::vector<double> result(static_cast<std::size_t>(s));
  double largest = -std::numeric_limits<double>::infinity(), sum = 0;
  const auto for_visible = [&](auto&& f) {
    for (Index j = 0; j < visible.end(); ++j) {
      if (visible(j)) {
        f(j, result[static_cast<std::size_t>(j)]);
      }
    }
  };
  for_visible([&](Index j, double& x) { largest = std::max(largest, x = score(j)); });
  for_visible([&](Index, double& x) { sum += x = std::exp(x - largest); });
  for_visible([&](Index, double& x) { x /= sum; });
  return result;
}

}  // namespace

void run(device::ReferenceStream&, const SummedProbabilities& kernel) {
  const Reader q(kernel.q), k(kernel.k);
  const Writer probabilities(kernel.probabilities);
  const Index s = kernel.q.size(0), per_group = kernel.q.size(3);
  const Index heads = kernel.q.size(2) * per_group;
  for (Index row = 0; row < kernel.q.size(1) * s; ++row) {
    const Index b = row / s, i = row % s;
    const VisibleKeys visible(kernel.mask, b, i);
    std::vector<double> sums(static_cast<std::size_t>(s));
    for (Index head = 0; head < heads; ++head) {
      const Index group = head / per_group;
      const std::vector<double> one = softmax(visible, s, [&](Index j) {
        double dot = 0;
        for (Index c = 0; c < kernel.q.size(4); ++c) {
          dot += q(i, b, group, head % per_group, c) * k(j, b, group, c);
        }
        return dot * static_cast<double>(kernel.scale);
      });
      std::ranges::transform(sums, one, sums.begin(), std::plus());
    }
    for (Index j = 0; j < s; ++j) {
      probabilities.set(sums[static_cast<std::size_t>(j)], b, i, j);
    }
  }
}

void run(device::ReferenceStream&, const IndexerLoss& kernel) {
  const Reader scores(kernel.scores);
  const Writer probabilities(kernel.probabilities), rows(kernel.rows), loss(kernel.loss);
  const Index s = kernel.scores.size(2);
  double all = 0;
  for (Index row = 0; row < kernel.scores.size(0) * s; ++row) {
    const Index b = row / s, i = row % s;
    const std::vector<double> guess =
        softmax(VisibleKeys(kernel.mask, b, i), s, [&](Index j) { return scores(b, i, j); });
    double sum = 0, distance = 0;
    for (Index j = 0; j < s; ++j) {
      sum += probabilities(b, i, j);
    }
    for (Index j = 0; j < s; ++j) {
      const double one = probabilities(b, i, j) / std::max(sum, kSmallest);
      const double other = guess[static_cast<std::size_t>(j)];
      distance += one > 0 ? one * (std::log(std::max(one, kSmallest)) - std::log(other)) : 0;
      probabilities.set(other - one, b, i, j);
    }
    rows.set(distance, b, i);
    all += distance;
  }
  loss.set(all * kernel.factor, 0);
}

void run(device::ReferenceStream&, const IndexerLossBackward& kernel) {
  const Writer difference(kernel.difference);
  const double factor = Reader(kernel.dloss)(0) * kernel.factor;
  for (Index i = 0; i < kernel.difference.numel(); ++i) {
    difference.set(difference(i) * factor, i);
  }
}

}  // namespace mpitron::kernels

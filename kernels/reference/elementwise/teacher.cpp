#include "kernels/elementwise/teacher.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/reference/common/elements.h"

namespace mpitron::kernels {

using reference::Reader;
using reference::Writer;

namespace {

/// Returns the teacher's shares of the words of row t.
std::vector<double> shares_of(const Reader& log_probs, Index t, Index k, double temperature) {
  std::vector<double> shares;
  double largest = log_probs(t, 0);
  for (Index i = 0; i < k; ++i) {
    largest = std::max(largest, log_probs(t, i));
  }
  double sum = 0;
  for (Index i = 0; i < k; ++i) {
    shares.push_back(std::exp((log_probs(t, i) - largest) / temperature));
    sum += shares.back();
  }
  std::ranges::for_each(shares, [sum](double& share) { share /= sum; });
  return shares;
}

}  // namespace

void run(device::ReferenceStream&, const TeacherMatch& kernel) {
  const Reader logits(kernel.logits), ids(kernel.ids), log_probs(kernel.log_probs);
  const Writer match(kernel.match);
  const Index k = kernel.ids.size(-1), v = kernel.logits.size(-1);
  for (Index t = 0; t < kernel.match.numel(); ++t) {
    const std::vector<double> shares = shares_of(log_probs, t, k, kernel.temperature);
    double sum = 0;
    for (Index i = 0; i < k; ++i) {
      const Index column = static_cast<Index>(ids(t, i)) - kernel.first_column;
      sum +=
          column >= 0 && column < v ? shares[static_cast<std::size_t>(i)] * logits(t, column) : 0;
    }
    match.set(sum, t);
  }
}

void run(device::ReferenceStream&, const DistillationForward& kernel) {
  const Reader hard(kernel.hard), lse(kernel.lse), match(kernel.match);
  const Reader log_probs(kernel.log_probs);
  const Writer loss(kernel.loss), divergence(kernel.divergence);
  const double square = kernel.temperature * kernel.temperature;
  for (Index t = 0; t < kernel.match.numel(); ++t) {
    double negative_entropy = 0;
    for (const double p : shares_of(log_probs, t, kernel.log_probs.size(-1), kernel.temperature)) {
      negative_entropy += p > 0 ? p * std::log(p) : 0;
    }
    const double far = square * (negative_entropy - match(t) + lse(t));
    divergence.set(far, t);
    loss.set((1 - kernel.weight) * hard(t) + kernel.weight * far, t);
  }
}

void run(device::ReferenceStream&, const TeacherScatter& kernel) {
  const Reader ids(kernel.ids), log_probs(kernel.log_probs), dloss(kernel.dloss);
  const Writer dlogits(kernel.dlogits);
  const Index k = kernel.ids.size(-1), v = kernel.dlogits.size(-1);
  for (Index t = 0; t < kernel.dloss.numel(); ++t) {
    const std::vector<double> shares = shares_of(log_probs, t, k, kernel.temperature);
    for (Index i = 0; i < k; ++i) {
      const Index column = static_cast<Index>(ids(t, i)) - kernel.first_column;
      if (column >= 0 && column < v) {
        const double less = kernel.factor * dloss(t) * shares[static_cast<std::size_t>(i)];
        dlogits.set(dlogits(t, column) - less, t, column);
      }
    }
  }
}

}  // namespace mpitron::kernels

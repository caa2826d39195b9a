#include "kernels/experts/router.h"

#include <vector>

#include "kernels/experts/router_row.h"
#include "kernels/reference/common/elements.h"

namespace mpitron::kernels {

using reference::Reader;
using reference::Writer;

namespace {

/// Returns a row of logits as double.
std::vector<double> row_of(const Reader& x, Index row, Index n) {
  std::vector<double> values(static_cast<std::size_t>(n));
  for (Index i = 0; i < n; ++i) {
    values[static_cast<std::size_t>(i)] = x(row, i);
  }
  return values;
}

/// Returns scores with bias, of the best groups alone; probabilities are made without the bias.
std::vector<double> choosing_scores(const TopKRouting& kernel, Index row,
                                    const std::vector<double>& logits) {
  const Index n = kernel.logits.size(1), k = kernel.experts.size(1);
  if (kernel.chosen_by) {
    return row_of(Reader(kernel.chosen_by), row, n);
  }
  std::vector<double> scores(logits.size());
  router::scores_of(router::Logits<double>{logits.data(), n}, kernel.rule, scores.data());
  for (Index i = 0; kernel.expert_bias && i < n; ++i) {
    scores[static_cast<std::size_t>(i)] += Reader(kernel.expert_bias)(i);
  }
  if (kernel.rule.groups > 1) {
    router::keep_best_groups(scores.data(), n, k, kernel.rule);
  }
  return scores;
}

}  // namespace

/// Chooses the k largest scores; ties go to the expert with the lower number.
void run(device::ReferenceStream&, const TopKRouting& kernel) {
  const Reader logits(kernel.logits);
  const Writer experts(kernel.experts), probabilities(kernel.probabilities);
  const Index n = kernel.logits.size(1), k = kernel.experts.size(1);
  std::vector<double> values(static_cast<std::size_t>(k));
  std::vector<Index> chosen(static_cast<std::size_t>(k));
  for (Index row = 0; row < kernel.logits.size(0); ++row) {
    const std::vector<double> x = row_of(logits, row, n);
    const std::vector<double> scores = choosing_scores(kernel, row, x);
    router::largest(scores.data(), n, k,
                    [&](Index j, Index i) { chosen[static_cast<std::size_t>(j)] = i; });
    const auto index = [&](Index j) { return chosen[static_cast<std::size_t>(j)]; };
    router::probabilities_of(router::Logits<double>{x.data(), n}, k, kernel.rule, index,
                             values.data());
    for (Index j = 0; j < k; ++j) {
      experts.set(static_cast<double>(index(j)), row, j);
      probabilities.set(values[static_cast<std::size_t>(j)], row, j);
    }
  }
}

/// Goes back through the softmax or sigmoid of the chosen alone, or of all with pre-softmax.
void run(device::ReferenceStream&, const TopKRoutingBackward& kernel) {
  const Reader logits(kernel.logits), experts(kernel.experts), gradients(kernel.dprobabilities);
  const Writer dlogits(kernel.dlogits);
  const Index n = kernel.logits.size(1), k = kernel.experts.size(1);
  for (Index row = 0; row < kernel.logits.size(0); ++row) {
    std::vector<double> dx(static_cast<std::size_t>(n));
    const auto index = [&](Index j) { return static_cast<Index>(experts(row, j)); };
    const std::vector<double> x = row_of(logits, row, n);
    router::logit_gradients(router::Logits<double>{x.data(), n}, k, kernel.rule, index,
                            row_of(gradients, row, k).data(), dx.data());
    for (Index i = 0; i < n; ++i) {
      dlogits.set(dx[static_cast<std::size_t>(i)], row, i);
    }
  }
}

/// Normalises rows and columns in turns until the change is below the tolerance, in double.
void run(device::ReferenceStream&, const Sinkhorn& kernel) {
  const Reader logits(kernel.logits);
  const Writer scores(kernel.scores);
  const Index t = kernel.logits.size(0), n = kernel.logits.size(1);
  std::vector<double> d0(static_cast<std::size_t>(t)), d1(static_cast<std::size_t>(n), 1.0);
  const auto cost = [&](Index row, Index i) { return std::exp(logits(row, i)); };
  double change = 1;
  while (change > kernel.tolerance) {
    std::vector<double> columns(static_cast<std::size_t>(n));
    for (Index row = 0; row < t; ++row) {
      double sum = 0;
      for (Index i = 0; i < n; ++i) {
        sum += d1[static_cast<std::size_t>(i)] * cost(row, i);
      }
      d0[static_cast<std::size_t>(row)] = 1 / (static_cast<double>(t) * (sum + 1e-8));
      for (Index i = 0; i < n; ++i) {
        columns[static_cast<std::size_t>(i)] += d0[static_cast<std::size_t>(row)] * cost(row, i);
      }
    }
    change = 0;
    for (std::size_t i = 0; i < d1.size(); ++i) {
      const double next = 1 / (static_cast<double>(n) * (columns[i] + 1e-8));
      change += std::abs(next - d1[i]) / static_cast<double>(n);
      d1[i] = next;
    }
  }
  for (Index row = 0; row < t; ++row) {
    for (Index i = 0; i < n; ++i) {
      scores.set(d1[static_cast<std::size_t>(i)] * cost(row, i) * d0[static_cast<std::size_t>(row)],
                 row, i);
    }
  }
}

}  // namespace mpitron::kernels

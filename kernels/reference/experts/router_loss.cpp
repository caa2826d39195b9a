#include "kernels/experts/router_loss.h"

#include <numeric>
#include <vector>

#include "kernels/experts/router_row.h"
#include "kernels/reference/common/elements.h"

namespace mpitron::kernels {

using reference::Reader;
using reference::Writer;

namespace {

/// Calls f(row, its logits) for all rows.
template <class F>
void for_rows(const In& logits, F&& f) {
  const Reader element(logits);
  std::vector<double> x(static_cast<std::size_t>(logits.size(1)));
  for (Index row = 0; row < logits.size(0); ++row) {
    for (std::size_t i = 0; i < x.size(); ++i) {
      x[i] = element(row, i);
    }
    f(row, x);
  }
}

void write(const std::vector<double>& values, const Out& view, Index row) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    Writer(view).set(values[i], row, i);
  }
}

router::Logits<double> logits_of(const std::vector<double>& x) {
  return {x.data(), static_cast<Index>(x.size())};
}

std::vector<double> scores_of(const std::vector<double>& x, const BalanceRule& rule) {
  std::vector<double> scores(x.size());
  router::balance_scores(logits_of(x), rule.score, scores.data());
  return scores;
}

}  // namespace

/// Counts visits by the scores of the loss, which capacity and bias do not change.
void run(device::ReferenceStream&, const BalanceCounts& kernel) {
  const Writer counts(kernel.counts);
  const Index sets = kernel.counts.size(0), n = kernel.counts.size(1);
  for (Index i = 0; i < sets * n; ++i) {
    counts.set(0, i);
  }
  for_rows(kernel.logits, [&](Index row, const std::vector<double>& x) {
    router::largest(scores_of(x, kernel.rule).data(), n, kernel.rule.topk,
                    [&](Index, Index expert) { counts.add(1, row % sets, expert); });
  });
}

/// factor sum over tokens and experts of score times the visits of the token's set.
void run(device::ReferenceStream&, const BalanceLoss& kernel) {
  const Reader counts(kernel.counts);
  double sum = 0;
  for_rows(kernel.logits, [&](Index row, const std::vector<double>& x) {
    const std::vector<double> scores = scores_of(x, kernel.rule);
    for (std::size_t i = 0; i < x.size(); ++i) {
      sum += counts(row % kernel.counts.size(0), i) * scores[i];
    }
  });
  Writer(kernel.loss).set(kernel.factor * sum, 0);
}

/// Writes the gradient of the scores; counts are constants.
void run(device::ReferenceStream&, const BalanceLossBackward& kernel) {
  const Reader counts(kernel.counts);
  const double factor = kernel.factor * Reader(kernel.dloss)(0);
  for_rows(kernel.logits, [&](Index row, const std::vector<double>& x) {
    std::vector<double> gradient(x.size()), dx(x.size());
    for (std::size_t i = 0; i < x.size(); ++i) {
      gradient[i] = factor * counts(row % kernel.counts.size(0), i);
    }
    router::balance_score_gradients(logits_of(x), kernel.rule.score, gradient.data(), dx.data());
    write(dx, kernel.dlogits, row);
  });
}

/// Writes factor times the sum of logsumexp^2.
void run(device::ReferenceStream&, const RouterZLoss& kernel) {
  double sum = 0;
  for_rows(kernel.logits, [&](Index, const std::vector<double>& x) {
    const double z = router::log_sum_exp(logits_of(x));
    sum += z * z;
  });
  Writer(kernel.loss).set(kernel.factor * sum, 0);
}

/// Writes 2 factor dloss z softmax(x), with z = logsumexp.
void run(device::ReferenceStream&, const RouterZLossBackward& kernel) {
  const double factor = kernel.factor * Reader(kernel.dloss)(0);
  for_rows(kernel.logits, [&](Index row, const std::vector<double>& x) {
    std::vector<double> dx(x.size());
    router::softmax(logits_of(x), dx.data());
    const double slope = 2 * factor * router::log_sum_exp(logits_of(x));
    for (double& value : dx) {
      value *= slope;
    }
    write(dx, kernel.dlogits, row);
  });
}

/// bias += rate sign(mean - tokens).
void run(device::ReferenceStream&, const ExpertBiasUpdate& kernel) {
  const double* tokens = kernel.tokens.as<double>();
  float* bias = kernel.bias.as<float>();
  const Index n = kernel.tokens.numel();
  const auto sum = static_cast<float>(std::accumulate(tokens, tokens + n, 0.0));
  const float mean = sum / static_cast<float>(n);
  for (Index i = 0; i < n; ++i) {
    const float offset = mean - static_cast<float>(tokens[i]);
    const float sign = offset > 0 ? 1.F : offset < 0 ? -1.F : 0.F;
    bias[i] += sign * kernel.rate;
  }
}

}  // namespace mpitron::kernels

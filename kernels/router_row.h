#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

#include "kernels/router.h"

// What a router does with the logits of one token, in T (float or double): the definition that all
// devices without vectors of their own share.

namespace mpitron::kernels::router {

/// Room for a number of each expert.
template <class T>
using Row = std::array<T, static_cast<std::size_t>(kMostExperts)>;

/// Of a chosen sigmoid's sum.
inline constexpr double kSumGuard = 1e-20;

template <class T>
T sigmoid(T x) {
  return 1 / (1 + std::exp(-x));
}

template <class T>
void softmax(const T* logits, Index n, T* probabilities) {
  const T largest = *std::max_element(logits, logits + n);
  T sum = 0;
  for (Index i = 0; i < n; ++i) {
    probabilities[i] = std::exp(logits[i] - largest);
    sum += probabilities[i];
  }
  for (Index i = 0; i < n; ++i) {
    probabilities[i] /= sum;
  }
}

/// chosen(j, i): the j-th largest of values is number i; ties by rising index. A NaN counts as
/// -infinity: a step that overflowed still has to reach its end.
template <class T, class Chosen>
void largest(const T* values, Index n, Index k, Chosen&& chosen) {
  constexpr T kInfinity = std::numeric_limits<T>::infinity();
  const auto value = [&](Index i) { return std::isnan(values[i]) ? -kInfinity : values[i]; };
  T above = kInfinity;
  Index last = -1;
  for (Index j = 0; j < k; ++j) {
    Index best = -1;
    for (Index i = 0; i < n; ++i) {
      const T x = value(i);
      const bool left = x < above || (x == above && i > last);
      if (left && (best < 0 || x > value(best))) {
        best = i;
      }
    }
    chosen(j, best);
    above = value(best);
    last = best;
  }
}

/// Gives the experts outside of the best groups the score -infinity.
template <class T>
void keep_best_groups(T* scores, Index n, Index k, const RoutingRule& rule) {
  const Index size = n / rule.groups;
  Row<T> sums;
  for (Index group = 0; group < rule.groups; ++group) {
    T& sum = sums[static_cast<std::size_t>(group)];
    sum = 0;
    const T* first = scores + group * size;
    largest(first, size, k / rule.group_topk, [&](Index, Index i) { sum += first[i]; });
  }
  std::array<bool, static_cast<std::size_t>(kMostExperts)> kept{};
  largest(sums.data(), rule.groups, rule.group_topk,
          [&](Index, Index group) { kept[static_cast<std::size_t>(group)] = true; });
  for (Index i = 0; i < n; ++i) {
    if (!kept[static_cast<std::size_t>(i / size)]) {
      scores[i] = -std::numeric_limits<T>::infinity();
    }
  }
}

/// What experts are chosen by, where it is not given.
template <class T>
void scores_of(const T* logits, Index n, const RoutingRule& rule, T* scores) {
  if (rule.score == RouterScore::sigmoid) {
    std::transform(logits, logits + n, scores, [](T x) { return sigmoid(x); });
  } else if (rule.pre_softmax) {
    softmax(logits, n, scores);
  } else {
    std::copy_n(logits, n, scores);
  }
}

/// Probabilities of the k chosen experts. `chosen`: index by place.
template <class T, class Chosen>
void probabilities_of(const T* logits, Index n, Index k, const RoutingRule& rule, Chosen&& chosen,
                      T* probabilities) {
  Row<T> row;
  if (rule.score == RouterScore::softmax && rule.pre_softmax) {
    softmax(logits, n, row.data());
    for (Index j = 0; j < k; ++j) {
      probabilities[j] = row[static_cast<std::size_t>(chosen(j))];
    }
  } else if (rule.score == RouterScore::softmax) {
    for (Index j = 0; j < k; ++j) {
      row[static_cast<std::size_t>(j)] = logits[chosen(j)];
    }
    softmax(row.data(), k, probabilities);
  } else {
    T sum = 0;
    for (Index j = 0; j < k; ++j) {
      probabilities[j] = sigmoid(logits[chosen(j)]);
      sum += probabilities[j];
    }
    for (Index j = 0; k > 1 && j < k; ++j) {
      probabilities[j] /= sum + static_cast<T>(kSumGuard);
    }
  }
  for (Index j = 0; j < k; ++j) {
    probabilities[j] *= static_cast<T>(rule.scaling);
  }
}

/// Adds sum_j gradient[j] d(probability j) / d(logit) to the zeros in dlogits.
template <class T, class Chosen>
void logit_gradients(const T* logits, Index n, Index k, const RoutingRule& rule, Chosen&& chosen,
                     const T* gradient, T* dlogits) {
  Row<T> probabilities;
  RoutingRule unscaled = rule;
  unscaled.scaling = 1;
  probabilities_of(logits, n, k, unscaled, chosen, probabilities.data());
  const T scaling = static_cast<T>(rule.scaling);
  T mean = 0;
  for (Index j = 0; j < k; ++j) {
    mean += scaling * gradient[j] * probabilities[static_cast<std::size_t>(j)];
  }
  if (rule.score == RouterScore::softmax) {
    if (rule.pre_softmax) {
      Row<T> all;
      softmax(logits, n, all.data());
      std::transform(all.begin(), all.begin() + n, dlogits, [mean](T p) { return -p * mean; });
    }
    for (Index j = 0; j < k; ++j) {
      const T shift = rule.pre_softmax ? 0 : mean;
      dlogits[chosen(j)] +=
          probabilities[static_cast<std::size_t>(j)] * (scaling * gradient[j] - shift);
    }
    return;
  }
  T sum = static_cast<T>(kSumGuard);
  for (Index j = 0; j < k; ++j) {
    sum += sigmoid(logits[chosen(j)]);
  }
  for (Index j = 0; j < k; ++j) {
    const T value = sigmoid(logits[chosen(j)]);
    const T dvalue = k > 1 ? (scaling * gradient[j] - mean) / sum : scaling * gradient[j];
    dlogits[chosen(j)] += dvalue * value * (1 - value);
  }
}

/// The scores that balancing losses see: softmax, or sigmoids divided by their sum where k > 1.
template <class T>
void balance_scores(const T* logits, Index n, Index k, RouterScore score, T* scores) {
  if (score == RouterScore::softmax) {
    softmax(logits, n, scores);
    return;
  }
  T sum = static_cast<T>(kSumGuard);
  for (Index i = 0; i < n; ++i) {
    scores[i] = sigmoid(logits[i]);
    sum += scores[i];
  }
  for (Index i = 0; k > 1 && i < n; ++i) {
    scores[i] /= sum;
  }
}

/// dlogits = sum_i gradient[i] d(score i) / d(logit).
template <class T>
void balance_score_gradients(const T* logits, Index n, Index k, RouterScore score,
                             const T* gradient, T* dlogits) {
  Row<T> scores;
  balance_scores(logits, n, k, score, scores.data());
  T mean = 0;
  for (Index i = 0; i < n; ++i) {
    mean += gradient[i] * scores[static_cast<std::size_t>(i)];
  }
  if (score == RouterScore::softmax) {
    for (Index i = 0; i < n; ++i) {
      dlogits[i] = scores[static_cast<std::size_t>(i)] * (gradient[i] - mean);
    }
    return;
  }
  T sum = static_cast<T>(kSumGuard);
  for (Index i = 0; i < n; ++i) {
    sum += sigmoid(logits[i]);
  }
  for (Index i = 0; i < n; ++i) {
    const T value = sigmoid(logits[i]);
    const T dvalue = k > 1 ? (gradient[i] - mean) / sum : gradient[i];
    dlogits[i] = dvalue * value * (1 - value);
  }
}

/// ln sum e^logit.
template <class T>
T log_sum_exp(const T* logits, Index n) {
  const T largest = *std::max_element(logits, logits + n);
  T sum = 0;
  for (Index i = 0; i < n; ++i) {
    sum += std::exp(logits[i] - largest);
  }
  return largest + std::log(sum);
}

}  // namespace mpitron::kernels::router

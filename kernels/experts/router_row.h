#pragma once
#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <limits>

#include "kernels/elementwise/softplus.h"
#include "kernels/experts/router.h"

// What a router does with the logits of one token, in T (float or double): the definition that all
// devices without vectors of their own share.

namespace mpitron::kernels::router {

/// Room for a number of each expert.
template <class T>
using Row = std::array<T, static_cast<std::size_t>(kMostExperts)>;

/// The logits of one token.
template <class T>
struct Logits {
  const T* values;
  Index n;

  T operator[](Index i) const { return values[i]; }
  const T* begin() const { return values; }
  const T* end() const { return values + n; }
};

/// Keeps a sum of own scores from zero.
inline constexpr double kSumGuard = 1e-20;

template <class T>
T sigmoid(T x) {
  return 1 / (1 + std::exp(-x));
}
/// A score that does not depend on the other logits: sigmoid or sqrt_softplus.
template <class T>
T own_score(RouterScore score, T x) {
  return score == RouterScore::sigmoid ? sigmoid(x) : std::sqrt(softplus(x));
}
/// Its slope, given its value.
template <class T>
T own_score_slope(RouterScore score, T x, T value) {
  if (score == RouterScore::sigmoid) {
    return value * (1 - value);
  }
  return x < -30 ? value / 2 : sigmoid(x) / (2 * value);  // far left value is e^(x/2)
}

/// Writes the softmax of the numbers value(0) ... value(n - 1).
template <class T, class Value>
void softmax(Index n, Value&& value, T* probabilities) {
  T largest = value(0);
  for (Index i = 1; i < n; ++i) {
    largest = std::max(largest, value(i));
  }
  T sum = 0;
  for (Index i = 0; i < n; ++i) {
    probabilities[i] = std::exp(value(i) - largest);
    sum += probabilities[i];
  }
  for (Index i = 0; i < n; ++i) {
    probabilities[i] /= sum;
  }
}
template <class T>
void softmax(const Logits<T>& x, T* probabilities) {
  softmax(
      x.n, [&](Index i) { return x[i]; }, probabilities);
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

/// Computes the scores that experts are chosen by, where they are not given.
template <class T>
void scores_of(const Logits<T>& x, const RoutingRule& rule, T* scores) {
  if (rule.score != RouterScore::softmax) {
    std::transform(x.begin(), x.end(), scores,
                   [&](T logit) { return own_score(rule.score, logit); });
  } else if (rule.pre_softmax) {
    softmax(x, scores);
  } else {
    std::copy(x.begin(), x.end(), scores);
  }
}

/// Probabilities of the k chosen experts. `chosen`: index by place.
template <class T, class Chosen>
void probabilities_of(const Logits<T>& x, Index k, const RoutingRule& rule, Chosen&& chosen,
                      T* probabilities) {
  if (rule.score == RouterScore::softmax && rule.pre_softmax) {
    Row<T> row;
    softmax(x, row.data());
    for (Index j = 0; j < k; ++j) {
      probabilities[j] = row[static_cast<std::size_t>(chosen(j))];
    }
  } else if (rule.score == RouterScore::softmax) {
    softmax(
        k, [&](Index j) { return x[chosen(j)]; }, probabilities);
  } else {
    T sum = static_cast<T>(kSumGuard);
    for (Index j = 0; j < k; ++j) {
      probabilities[j] = own_score(rule.score, x[chosen(j)]);
      sum += probabilities[j];
    }
    for (Index j = 0; k > 1 && j < k; ++j) {
      probabilities[j] /= sum;
    }
  }
  for (Index j = 0; j < k; ++j) {
    probabilities[j] *= static_cast<T>(rule.scaling);
  }
}

/// Adds what the gradients `weights` of unscaled probabilities make of the logits: for softmax ...
template <class T, class Chosen>
void softmax_gradients(const Logits<T>& x, Index k, bool pre_softmax, Chosen&& chosen,
                       const T* weights, T* dlogits) {
  Row<T> probabilities;
  probabilities_of(x, k, {.pre_softmax = pre_softmax}, chosen, probabilities.data());
  T mean = 0;
  for (Index j = 0; j < k; ++j) {
    mean += weights[j] * probabilities[static_cast<std::size_t>(j)];
  }
  if (pre_softmax) {
    Row<T> all;
    softmax(x, all.data());
    std::transform(all.begin(), all.begin() + x.n, dlogits, [mean](T p) { return -p * mean; });
  }
  const T shift = pre_softmax ? 0 : mean;
  for (Index j = 0; j < k; ++j) {
    dlogits[chosen(j)] += probabilities[static_cast<std::size_t>(j)] * (weights[j] - shift);
  }
}

/// ... and for own scores, divided by their sum where k > 1 or `always_normal`.
struct OwnScores {
  RouterScore score;
  bool always_normal = false;
};
template <class T, class Chosen>
void own_score_gradients(const Logits<T>& x, Index k, const OwnScores& rule, Chosen&& chosen,
                         const T* weights, T* dlogits) {
  T sum = static_cast<T>(kSumGuard), product = 0;
  for (Index j = 0; j < k; ++j) {
    const T value = own_score(rule.score, x[chosen(j)]);
    sum += value;
    product += weights[j] * value;
  }
  for (Index j = 0; j < k; ++j) {
    const T value = own_score(rule.score, x[chosen(j)]);
    const bool normal = k > 1 || rule.always_normal;
    const T dvalue = normal ? (weights[j] - product / sum) / sum : weights[j];
    dlogits[chosen(j)] += dvalue * own_score_slope(rule.score, x[chosen(j)], value);
  }
}

/// Adds sum_j gradient[j] d(probability j) / d(logit) to the zeros in dlogits.
template <class T, class Chosen>
void logit_gradients(const Logits<T>& x, Index k, const RoutingRule& rule, Chosen&& chosen,
                     const T* gradient, T* dlogits) {
  Row<T> weights;
  std::transform(gradient, gradient + k, weights.data(),
                 [&](T g) { return static_cast<T>(rule.scaling) * g; });
  if (rule.score == RouterScore::softmax) {
    softmax_gradients(x, k, rule.pre_softmax, chosen, weights.data(), dlogits);
  } else {
    own_score_gradients(x, k, {rule.score}, chosen, weights.data(), dlogits);
  }
}

/// The scores that balancing losses see: of all experts; own scores are divided by their sum.
template <class T>
void balance_scores(const Logits<T>& x, RouterScore score, T* scores) {
  if (score == RouterScore::softmax) {
    softmax(x, scores);
    return;
  }
  T sum = static_cast<T>(kSumGuard);
  for (Index i = 0; i < x.n; ++i) {
    scores[i] = own_score(score, x[i]);
    sum += scores[i];
  }
  for (Index i = 0; i < x.n; ++i) {
    scores[i] /= sum;
  }
}

/// dlogits = sum_i gradient[i] d(score i) / d(logit).
template <class T>
void balance_score_gradients(const Logits<T>& x, RouterScore score, const T* gradient, T* dlogits) {
  const auto every = [](Index i) { return i; };
  std::fill_n(dlogits, x.n, T{});
  if (score == RouterScore::softmax) {
    softmax_gradients(x, x.n, false, every, gradient, dlogits);
  } else {
    own_score_gradients(x, x.n, {score, true}, every, gradient, dlogits);
  }
}

/// ln sum e^logit.
template <class T>
T log_sum_exp(const Logits<T>& x) {
  const T largest = *std::max_element(x.begin(), x.end());
  T sum = 0;
  for (const T logit : x) {
    sum += std::exp(logit - largest);
  }
  return largest + std::log(sum);
}

}  // namespace mpitron::kernels::router

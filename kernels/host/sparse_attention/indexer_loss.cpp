// Compares an indexer's scores with the probabilities of attention. A thread has whole queries;
// what is hidden stays 0 in every row.
#include "kernels/sparse_attention/indexer_loss.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <vector>

#include "kernels/host/sparse_attention/row_products.h"

namespace mpitron::kernels {
namespace {

using namespace host;

constexpr double kSmallest = 1e-10;  // of a probability in front of a logarithm
constexpr float kLowest = -std::numeric_limits<float>::infinity();

/// A query's row of attention: adds softmax of `scores`, in which hidden keys are -infinity.
void add_softmax(std::vector<float>& scores, float* sums) {
  const auto n = static_cast<Index>(scores.size());
  const float largest = *std::ranges::max_element(scores);
  if (largest == kLowest) {
    return;
  }
  const auto [sum] = simd::row_sums<1>(n, [&](Index j, auto lanes, auto& partial) {
    const simd::Float power =
        simd::exp(simd::load(scores.data() + j, lanes) - simd::splat(largest));
    simd::store(scores.data() + j, power, lanes);
    partial[0] += simd::inside(power, lanes);
  });
  add_multiple(sums, 1 / sum, scores.data(), n);
}

/// Makes softmax - t of a query's probabilities and returns the distance of both.
double compare_row(const VisibleKeys& visible, const float* scores, float* probabilities) {
  const Index end = visible.end();
  const auto for_visible = [&](auto&& f) {
    for (Index j = 0; j < end; ++j) {
      if (visible(j)) {
        f(static_cast<double>(scores[j]), probabilities[j]);
      }
    }
  };
  double largest = static_cast<double>(kLowest), sum = 0, mass = 0, distance = 0;
  for_visible([&](double score, float) { largest = std::max(largest, score); });
  for_visible([&](double score, float one) {
    sum += std::exp(score - largest);
    mass += static_cast<double>(one);
  });
  const double log_sum = largest + std::log(sum);
  for_visible([&](double score, float& one) {
    const double share = static_cast<double>(one) / std::max(mass, kSmallest);
    const double guess = score - log_sum;
    distance += share * (std::log(std::max(share, kSmallest)) - guess);
    one = static_cast<float>(std::exp(guess) - share);
  });
  return distance;
}

}  // namespace

void run(device::HostStream&, const SummedProbabilities& kernel) {
  const In &q = kernel.q, &k = kernel.k;
  const Index s = q.size(0), per_group = q.size(3), d = q.size(4);
  float* const to = kernel.probabilities.as<float>();
  visit_dtype(q.dtype, [&]<class T>() {
    for_blocks(q.size(1) * s, q.numel() * s / 2, [&](Index row) {
      const Index sample = row / s, i = row % s;
      const VisibleKeys visible(kernel.mask, sample, i);
      std::vector<float> scores(static_cast<std::size_t>(visible.end()));
      std::fill_n(to + row * s, s, 0.F);
      for (Index head = 0; head < q.size(2) * per_group; ++head) {
        const Index group = head / per_group;
        const T* const query = q.as<T>() + i * q.stride(0) + sample * q.stride(1) +
                               group * q.stride(2) + head % per_group * q.stride(3);
        const T* const keys = k.as<T>() + sample * k.stride(1) + group * k.stride(2);
        for (Index j = 0; j < visible.end(); ++j) {
          scores[static_cast<std::size_t>(j)] =
              visible(j) ? dot(query, keys + j * k.stride(0), d) * kernel.scale : kLowest;
        }
        add_softmax(scores, to + row * s);
      }
    });
  });
}

void run(device::HostStream&, const IndexerLoss& kernel) {
  const Index s = kernel.scores.size(2), count = kernel.scores.size(0) * s;
  const float* const scores = kernel.scores.as<float>();
  float* const probabilities = kernel.probabilities.as<float>();
  const std::span rows(kernel.rows.as<double>(), static_cast<std::size_t>(count));
  for_blocks(count, 16 * count * s, [&](Index row) {
    const VisibleKeys visible(kernel.mask, row / s, row % s);
    rows[static_cast<std::size_t>(row)] =
        compare_row(visible, scores + row * s, probabilities + row * s);
  });
  *kernel.loss.as<double>() = std::accumulate(rows.begin(), rows.end(), 0.0) * kernel.factor;
}

void run(device::HostStream&, const IndexerLossBackward& kernel) {
  const auto factor = static_cast<float>(*kernel.dloss.as<double>() * kernel.factor);
  float* const difference = kernel.difference.as<float>();
  for_ranges(kernel.difference.numel(), kernel.difference.numel(), [&](Index begin, Index end) {
    std::transform(difference + begin, difference + end, difference + begin,
                   [=](float number) { return number * factor; });
  });
}

}  // namespace mpitron::kernels

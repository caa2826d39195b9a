// Computes the cross entropy of rows of logits on the host. A vocabulary's row is the longest of a
// step, so the forward pass reads it once from memory, in chunks that stay in L1, and the backward
// pass may write over it (numerics: docs/numerics.md, Orders).
#include "kernels/elementwise/cross_entropy.h"

#include <cmath>
#include <limits>

#include "kernels/host/common/views.h"

namespace mpitron::kernels {
namespace {

using namespace host;
using simd::Float;

constexpr Index kWork = 2;
/// Logits between two looks at the maximum: they are in L1 still where they must be read again.
constexpr Index kChunk = 4096;
constexpr float kLowest = -std::numeric_limits<float>::infinity();

/// a' of the contract: the weight that smoothing takes from the target.
float spread(float label_smoothing, Index v) {
  return label_smoothing == 0 ? 0
                              : label_smoothing * static_cast<float>(v) / static_cast<float>(v - 1);
}

/// The largest of a row, by four accumulators, because one would wait for each comparison before
/// the next.
template <class T>
float row_max(const T* x, Index n) {
  const Float lowest = simd::splat(kLowest);
  Float m[4] = {lowest, lowest, lowest, lowest};
  Index i = 0;
  for (; i + 4 * simd::kLanes <= n; i += 4 * simd::kLanes) {
    for (int u = 0; u < 4; ++u) {
      m[u] = simd::max(simd::load(x + i + u * simd::kLanes), m[u]);
    }
  }
  for (; i + simd::kLanes <= n; i += simd::kLanes) {
    m[0] = simd::max(simd::load(x + i), m[0]);
  }
  float result = simd::lane_max(simd::max(simd::max(m[0], m[1]), simd::max(m[2], m[3])));
  for (; i < n; ++i) {
    result = std::max(result, static_cast<float>(x[i]));
  }
  return result;
}

/// Computes e^(x - origin) as 2^(x log2 e - offset), by one fused multiply-add and a power of two.
/// What rounding the offset does is known, and whoever uses the result takes it back (`excess`).
struct Power {
  static constexpr float kLog2E = 1.44269504f;
  static constexpr float kLn2 = 0.693147181f;

  explicit Power(float origin)
      : offset(origin * kLog2E), excess(std::fma(origin, kLog2E, -offset) * kLn2) {}
  Float operator()(Float x) const {
    return simd::exp2(simd::fma(x, simd::splat(kLog2E), simd::splat(-offset)));
  }

  float offset;
  float excess;  // the result is e^(x - origin) e^excess
};

/// The maximum of a row and the sum of exp(x - max).
struct SoftmaxSums {
  float max = kLowest;
  float sum = 0;
  float logits = 0;  // their plain sum, for smoothing
};

/// Sums a chunk: its maximum, the sum of exp(x - pivot), and with kPlainSum the sum of x.
template <bool kPlainSum, class T>
SoftmaxSums chunk_sums(const T* x, Index n, float pivot) {
  const Power power(pivot);
  Float top = simd::splat(kLowest);
  const auto [exps, plain] = simd::row_sums<2>(n, [&](Index i, auto lanes, auto& acc) {
    simd::prefetch_ahead(x + i);
    const Float value = simd::load(x + i, lanes);
    if constexpr (std::is_same_v<decltype(lanes), simd::Full>) {
      top = simd::max(value, top);
    }
    acc[0] += simd::inside(power(value), lanes);
    if constexpr (kPlainSum) {
      acc[1] += value;
    }
  });
  const Index part = n / simd::kLanes * simd::kLanes;
  const float max = std::max(simd::lane_max(top), row_max(x + part, n - part));
  return {max, exps * std::exp(-power.excess), plain};
}

/// Sums a row in one pass. Exponentials are of x - pivot, the maximum of the row's start; where a
/// later logit is far above it, the pivot moves there and the chunk is summed again. Both the head
/// and the chunks have fixed sizes, so the order depends on the row alone.
template <bool kPlainSum, class T>
SoftmaxSums softmax_sums(const T* x, Index v) {
  constexpr Index kHead = 512;
  constexpr float kFar = 8;  // e^8 costs no precision yet, e^88 overflows
  const float head_max = row_max(x, std::min(kHead, v));
  float pivot = head_max == kLowest ? 0 : head_max;
  SoftmaxSums sums;
  for (Index begin = 0; begin < v; begin += kChunk) {
    const Index n = std::min(kChunk, v - begin);
    SoftmaxSums chunk = chunk_sums<kPlainSum>(x + begin, n, pivot);
    if (chunk.max > pivot + kFar) [[unlikely]] {
      sums.sum *= std::exp(pivot - chunk.max);
      pivot = chunk.max;
      chunk = chunk_sums<kPlainSum>(x + begin, n, pivot);
    }
    sums.max = std::max(sums.max, chunk.max);
    sums.sum += chunk.sum;
    sums.logits += chunk.logits;
  }
  sums.sum *= std::exp(pivot - sums.max);
  return sums;
}

template <class T>
void cross_entropy(const CrossEntropyForward& k) {
  const Rows<const T> logits(k.logits);
  const auto* labels = k.labels.as<std::int64_t>();
  float *losses = k.loss.as<float>(), *lses = k.lse.as<float>();
  const Index v = k.logits.size(-1);
  const float a = spread(k.label_smoothing, v);
  for_ranges(row_count(k.logits), k.logits.numel() * kWork, [&](Index begin, Index end) {
    for (Index row = begin; row < end; ++row) {
      const T* x = logits[row];
      const SoftmaxSums sums = a == 0 ? softmax_sums<false>(x, v) : softmax_sums<true>(x, v);
      const float log_sum = std::log(sums.sum);
      const Index label = labels[row];
      const bool has_target = label >= 0 && label < v;
      // (lse - target) with the maximum cancelled before the logarithm is added
      const float target = has_target ? static_cast<float>(x[label]) : sums.max;
      float loss = log_sum + (sums.max - target);
      if (a != 0) {
        const float mean = sums.logits / static_cast<float>(v);
        loss = (1 - a) * loss + a * (log_sum + (sums.max - mean));
      }
      losses[row] = loss;
      lses[row] = sums.max + log_sum;
    }
  });
}

/// Writes a rank's four numbers of each row, from its columns of the vocabulary.
template <class T>
void cross_entropy(const CrossEntropySums& k) {
  const Rows<const T> logits(k.logits);
  const auto* labels = k.labels.as<std::int64_t>();
  auto* results = k.sums.as<float>();
  const Index v = k.logits.size(-1);
  for_ranges(row_count(k.logits), k.logits.numel() * kWork, [&](Index begin, Index end) {
    for (Index row = begin; row < end; ++row) {
      const T* x = logits[row];
      const SoftmaxSums sums = k.plain_sum ? softmax_sums<true>(x, v) : softmax_sums<false>(x, v);
      const Index column = labels[row] - k.first_column;
      float* result = results + 4 * row;
      result[0] = sums.max;
      result[1] = sums.sum;
      result[2] = column >= 0 && column < v ? static_cast<float>(x[column]) : 0;
      result[3] = sums.logits;
    }
  });
}

/// Joins the ranks' sums of a row: a few numbers, so plain loops. Ranks are added in their order,
/// each scaled from its own maximum to the largest.
void join(const CrossEntropyJoin& k, Index row) {
  const Index ranks = k.sums.size(0), rows = k.sums.size(1);
  const float* sums = k.sums.as<float>() + 4 * row;
  SoftmaxSums all;
  for (Index rank = 0; rank < ranks; ++rank) {
    all.max = std::max(all.max, sums[4 * rank * rows]);
  }
  float target = 0;
  for (Index rank = 0; rank < ranks; ++rank) {
    const float* part = sums + 4 * rank * rows;
    if (part[0] > kLowest) {  // else all of its logits are masked
      all.sum += part[1] * std::exp(part[0] - all.max);
    }
    target += part[2];
    all.logits += part[3];
  }
  const Index label = k.labels.as<std::int64_t>()[row];
  const bool has_target = label >= 0 && label < k.vocabulary;
  const float log_sum = std::log(all.sum);
  const float a = spread(k.label_smoothing, k.vocabulary);
  const float mean = all.logits / static_cast<float>(k.vocabulary);
  const float of_label = log_sum + (has_target ? all.max - target : 0);
  k.loss.as<float>()[row] = (1 - a) * of_label + a * (log_sum + (all.max - mean));
  k.lse.as<float>()[row] = all.max + log_sum;
}

/// Writes dlogits = dloss (softmax - target), where dlogits may be logits. The target's column is
/// written again afterwards from its logit, which has to be read before the row is overwritten.
template <class T>
void cross_entropy(const CrossEntropyBackward& k) {
  const Rows<const T> logits(k.logits);
  const Rows<T> dlogits(k.dlogits);
  const auto* labels = k.labels.as<std::int64_t>();
  const float *lses = k.lse.as<float>(), *dlosses = k.dloss.as<float>();
  const Index v = k.logits.size(-1);
  const Index vocabulary = k.vocabulary > 0 ? k.vocabulary : v;
  const float a = spread(k.label_smoothing, vocabulary);
  const bool streaming = should_stream(k.dlogits, dlogits, k.logits);
  for_ranges(row_count(k.logits), k.logits.numel() * kWork, [&](Index begin, Index end) {
    with_store(streaming, [&](auto store) {
      for (Index row = end; row-- > begin;) {  // the last rows of the forward pass are in a cache
        const T* x = logits[row];
        T* dx = dlogits[row];
        const float lse = lses[row], dloss = dlosses[row];
        const Index label = labels[row] - k.first_column;
        const bool has_target = label >= 0 && label < v;
        const float target = has_target ? static_cast<float>(x[label]) : 0;
        const float floor = a / static_cast<float>(vocabulary);
        const Power power(lse);
        const Float factor = simd::splat(dloss * std::exp(-power.excess));
        simd::for_lanes(v, [&](Index i, auto lanes) {
          simd::prefetch_ahead(x + i);
          const Float p = power(simd::load(x + i, lanes));
          store(dx + i, simd::fma(p, factor, simd::splat(-floor * dloss)), lanes);
        });
        if (has_target) {
          const float p = std::exp(target - lse);
          dx[label] = T((p - floor - (1 - a)) * dloss);
        }
      }
    });
  });
}

}  // namespace

void run(device::HostStream&, const CrossEntropyForward& k) {
  visit_dtype(k.logits.dtype, [&]<class T>() { cross_entropy<T>(k); });
}

void run(device::HostStream&, const CrossEntropySums& k) {
  visit_dtype(k.logits.dtype, [&]<class T>() { cross_entropy<T>(k); });
}

void run(device::HostStream&, const CrossEntropyJoin& k) {
  const Index rows = k.labels.numel();
  for_ranges(rows, k.sums.numel() * kWork, [&](Index begin, Index end) {
    for (Index row = begin; row < end; ++row) {
      join(k, row);
    }
  });
}

void run(device::HostStream&, const CrossEntropyBackward& k) {
  MPITRON_CHECK(k.dlogits.dtype == k.logits.dtype, name_of(k.dlogits.dtype));
  visit_dtype(k.logits.dtype, [&]<class T>() { cross_entropy<T>(k); });
}

}  // namespace mpitron::kernels

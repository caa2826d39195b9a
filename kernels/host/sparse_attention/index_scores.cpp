// Scores of an indexer and their gradients. A thread has whole queries, or whole keys for the
// gradients of keys, so each sum is one thread's, in order. Backward computes the products again:
// they are as large as all heads' scores.
#include "kernels/sparse_attention/index_scores.h"

#include <vector>

#include "kernels/host/sparse_attention/row_products.h"

namespace mpitron::kernels {
namespace {

using namespace host;

/// One sample's queries, keys and weights.
template <class T>
struct IndexedSample {
  IndexedSample(const In& qk, const In& w, Index sample)
      : heads(w.size(2)),
        d(qk.size(3)),
        samples(qk.size(1)),
        rows(qk.as<T>() + sample * (heads + 1) * d),
        weights(w.as<T>() + sample * heads) {
    MPITRON_CHECK(qk.contiguous() && w.contiguous() && qk.size(2) == heads + 1, heads);
  }
  const T* query(Index i, Index head) const { return rows + place(i, head); }
  const T* key(Index j) const { return rows + place(j, heads); }
  float weight(Index i, Index head) const {
    return static_cast<float>(weights[i * samples * heads + head]);
  }
  /// The place of a head's row behind the first of the sample; `heads` is the key's.
  Index place(Index i, Index head) const { return (i * samples * (heads + 1) + head) * d; }

  Index heads, d, samples;
  const T* rows;
  const T* weights;
};

/// What a query's gradients need: a row of scores' gradients, times the factor.
template <class T>
void query_gradients(const IndexedSample<T>& x, Index i, const float* dscores, float factor,
                     T* dqueries, T* dweights) {
  std::vector<float> sum(static_cast<std::size_t>(x.d));
  for (Index head = 0; head < x.heads; ++head) {
    std::ranges::fill(sum, 0.F);
    float of_weight = 0;
    for (Index j = 0; j <= i; ++j) {
      const float product = dot(x.query(i, head), x.key(j), x.d);
      if (product > 0) {
        const float gradient = dscores[j] * factor;
        of_weight += gradient * product;
        add_multiple(sum.data(), gradient * x.weight(i, head), x.key(j), x.d);
      }
    }
    dweights[head] = T(of_weight);
    std::ranges::transform(sum, dqueries + head * x.d, [](float number) { return T(number); });
  }
}

/// The gradient of key j, of which queries from j on know.
template <class T>
void key_gradient(const IndexedSample<T>& x, Index j, Index s, const float* dscores, float factor,
                  T* dkey) {
  std::vector<float> sum(static_cast<std::size_t>(x.d));
  for (Index i = j; i < s; ++i) {
    const float gradient = dscores[i * s + j] * factor;
    for (Index head = 0; head < x.heads; ++head) {
      if (dot(x.query(i, head), x.key(j), x.d) > 0) {
        add_multiple(sum.data(), gradient * x.weight(i, head), x.query(i, head), x.d);
      }
    }
  }
  std::ranges::transform(sum, dkey, [](float number) { return T(number); });
}

}  // namespace

void run(device::HostStream&, const IndexScores& kernel) {
  const Index s = kernel.qk.size(0), samples = kernel.qk.size(1);
  float* const scores = kernel.scores.as<float>();
  visit_dtype(kernel.qk.dtype, [&]<class T>() {
    for_blocks(samples * s, kernel.qk.numel() * s / 2, [&](Index row) {
      const IndexedSample<T> x(kernel.qk, kernel.weights, row / s);
      const Index i = row % s;
      float* const to = scores + row * s;
      std::fill(to, to + s, 0.F);
      for (Index head = 0; head < x.heads; ++head) {
        const float weight = x.weight(i, head) * kernel.factor;
        for (Index j = 0; j <= i; ++j) {
          to[j] += weight * std::max(dot(x.query(i, head), x.key(j), x.d), 0.F);
        }
      }
    });
  });
}

void run(device::HostStream&, const IndexScoresBackward& kernel) {
  const Index s = kernel.qk.size(0), samples = kernel.qk.size(1);
  const float* const dscores = kernel.dscores.as<float>();
  const Index work = 2 * kernel.qk.numel() * s;
  visit_dtype(kernel.qk.dtype, [&]<class T>() {
    T *const dqk = kernel.dqk.as<T>(), *const dweights = kernel.dweights.as<T>();
    for_blocks(2 * samples * s, work, [&](Index at) {
      const Index row = at / 2, sample = row / s, i = row % s;
      const IndexedSample<T> x(kernel.qk, kernel.weights, sample);
      T* const rows = dqk + sample * (x.heads + 1) * x.d;
      if (at % 2 == 0) {
        query_gradients(x, i, dscores + row * s, kernel.factor, rows + x.place(i, 0),
                        dweights + (i * samples + sample) * x.heads);
      } else {
        key_gradient(x, i, s, dscores + sample * s * s, kernel.factor, rows + x.place(i, x.heads));
      }
    });
  });
}

}  // namespace mpitron::kernels

// Computes the balancing and z losses of a router on the host: rows in their type on all threads,
// sums over rows in fp64, in order, by one.
#include "kernels/experts/router_loss.h"

#include <atomic>
#include <numeric>

#include "kernels/host/experts/router_rows.h"

namespace mpitron::kernels {

namespace {

using namespace host;

/// Work of an element: an exponential and its part of a search.
constexpr Index kWork = 16;

/// Calls f(row, x, room for another row) for all rows, on all threads.
template <class F>
void for_rows(const In& logits, F&& f) {
  check_row(logits);
  visit_routing_dtype(logits.dtype, [&]<class T, class Tx>() {
    const RowReader<T, Tx> rows(logits);
    for_blocks(logits.size(0), logits.numel() * kWork, [&](Index row) {
      router::Row<T> x, other;
      rows.read(row, x.data());
      f.template operator()<T, Tx>(row, router::Logits<T>{x.data(), logits.size(1)}, other.data());
    });
  });
}

/// Writes factor times the sum of `values`, added in order.
void write_sum(const double* values, Index n, double factor, const Out& loss) {
  loss.as<double>()[0] = factor * std::accumulate(values, values + n, 0.0);
}

}  // namespace

Index workspace_bytes(const device::HostStream&, const BalanceCounts& k) {
  return k.counts.numel() * static_cast<Index>(sizeof(std::int64_t));
}

void run(device::HostStream&, const BalanceCounts& k) {
  const Index sets = k.counts.size(0), n = k.counts.size(1);
  auto* counters = static_cast<std::int64_t*>(k.workspace.data);
  std::fill_n(counters, sets * n, 0);
  for_rows(k.logits, [&]<class T, class Tx>(Index row, const router::Logits<T>& x, T* scores) {
    router::balance_scores(x, k.rule.score, scores);
    router::largest(scores, n, k.rule.topk, [&](Index, Index expert) {
      std::atomic_ref(counters[row % sets * n + expert]).fetch_add(1, std::memory_order_relaxed);
    });
  });
  std::copy_n(counters, sets * n, k.counts.as<double>());
}

Index workspace_bytes(const device::HostStream&, const BalanceLoss& k) {
  return k.logits.size(0) * static_cast<Index>(sizeof(double));
}

void run(device::HostStream&, const BalanceLoss& k) {
  const Index sets = k.counts.size(0), n = k.logits.size(1);
  const double* counts = k.counts.as<double>();
  auto* sums = static_cast<double*>(k.workspace.data);
  for_rows(k.logits, [&]<class T, class Tx>(Index row, const router::Logits<T>& x, T* scores) {
    router::balance_scores(x, k.rule.score, scores);
    sums[row] = 0;
    for (Index i = 0; i < n; ++i) {
      sums[row] += counts[row % sets * n + i] * static_cast<double>(scores[i]);
    }
  });
  write_sum(sums, k.logits.size(0), k.factor, k.loss);
}

void run(device::HostStream&, const BalanceLossBackward& k) {
  const Index sets = k.counts.size(0), n = k.logits.size(1);
  const double factor = k.factor * k.dloss.as<double>()[0];
  const double* counts = k.counts.as<double>();
  for_rows(k.logits, [&]<class T, class Tx>(Index row, const router::Logits<T>& x, T* dx) {
    router::Row<T> gradient;
    const double* set = counts + row % sets * n;
    std::transform(set, set + n, gradient.data(),
                   [factor](double count) { return static_cast<T>(factor * count); });
    router::balance_score_gradients(x, k.rule.score, gradient.data(), dx);
    write_row<T, Tx>(dx, k.dlogits, row);
  });
}

Index workspace_bytes(const device::HostStream&, const RouterZLoss& k) {
  return k.logits.size(0) * static_cast<Index>(sizeof(double));
}

void run(device::HostStream&, const RouterZLoss& k) {
  auto* squares = static_cast<double*>(k.workspace.data);
  for_rows(k.logits, [&]<class T, class Tx>(Index row, const router::Logits<T>& x, T*) {
    const auto z = static_cast<double>(router::log_sum_exp(x));
    squares[row] = z * z;
  });
  write_sum(squares, k.logits.size(0), k.factor, k.loss);
}

void run(device::HostStream&, const RouterZLossBackward& k) {
  const Index n = k.logits.size(1);
  const double factor = 2 * k.factor * k.dloss.as<double>()[0];
  for_rows(k.logits, [&]<class T, class Tx>(Index row, const router::Logits<T>& x, T* dx) {
    router::softmax(x, dx);
    const T slope = static_cast<T>(factor * static_cast<double>(router::log_sum_exp(x)));
    std::transform(dx, dx + n, dx, [slope](T p) { return p * slope; });
    write_row<T, Tx>(dx, k.dlogits, row);
  });
}

/// Updates the biases of experts: a few numbers, so the plain loops of the reference are run, in
/// the same bits.
void run(device::HostStream&, const ExpertBiasUpdate& kernel) {
  device::ReferenceStream plain;
  run(plain, kernel);
}

}  // namespace mpitron::kernels

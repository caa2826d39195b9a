// Chooses experts and their probabilities on the host, one row (token) at a time. The formulas are
// those of kernels/experts/router_row.h, which the reference has, too.
#include "kernels/experts/router.h"

#include "kernels/host/experts/router_rows.h"

namespace mpitron::kernels {
namespace {

using namespace host;

/// Work of a row beside its elements: exponentials and the search for the largest.
constexpr Index kRowWork = 32;

/// Chooses the experts of one row. Biases and groups decide who is chosen; probabilities are those
/// of the logits alone.
template <class T, class Tx>
void choose_row(const TopKRouting& k, const RowReader<T, Tx>& logits, Index row) {
  const Index n = k.logits.size(1), chosen = k.experts.size(1);
  router::Row<T> x, scores;
  logits.read(row, x.data());
  if (k.chosen_by) {
    std::copy_n(k.chosen_by.as<float>() + row * n, n, scores.data());
  } else {
    router::scores_of(router::Logits<T>{x.data(), n}, k.rule, scores.data());
    for (Index i = 0; k.expert_bias && i < n; ++i) {
      scores[static_cast<std::size_t>(i)] += static_cast<T>(k.expert_bias.as<float>()[i]);
    }
    if (k.rule.groups > 1) {
      router::keep_best_groups(scores.data(), n, chosen, k.rule);
    }
  }
  std::int64_t* experts = k.experts.as<std::int64_t>() + row * chosen;
  router::largest(scores.data(), n, chosen, [&](Index j, Index i) { experts[j] = i; });
  router::probabilities_of(
      router::Logits<T>{x.data(), n}, chosen, k.rule, [&](Index j) { return experts[j]; },
      k.probabilities.as<T>() + row * chosen);
}

}  // namespace

void run(device::HostStream&, const TopKRouting& k) {
  check_row(k.logits);
  visit_routing_dtype(k.logits.dtype, [&]<class T, class Tx>() {
    const RowReader<T, Tx> logits(k.logits);
    for_blocks(k.logits.size(0), k.logits.numel() * kRowWork,
               [&](Index row) { choose_row(k, logits, row); });
  });
}

void run(device::HostStream&, const TopKRoutingBackward& k) {
  check_row(k.logits);
  const Index n = k.logits.size(1), chosen = k.experts.size(1);
  visit_routing_dtype(k.logits.dtype, [&]<class T, class Tx>() {
    const RowReader<T, Tx> logits(k.logits);
    for_blocks(k.logits.size(0), k.logits.numel() * kRowWork, [&](Index row) {
      router::Row<T> x, dx;
      logits.read(row, x.data());
      std::fill_n(dx.data(), n, T{});
      const std::int64_t* experts = k.experts.as<std::int64_t>() + row * chosen;
      router::logit_gradients(
          router::Logits<T>{x.data(), n}, chosen, k.rule, [&](Index j) { return experts[j]; },
          k.dprobabilities.as<T>() + row * chosen, dx.data());
      write_row<T, Tx>(dx.data(), k.dlogits, row);
    });
  });
}

Index workspace_bytes(const device::HostStream&, const Sinkhorn& k) {
  return (k.logits.size(0) + 2 * k.logits.size(1)) * static_cast<Index>(sizeof(float));
}

/// Normalises rows and columns in turns until the columns change by less than the tolerance
/// (Sinkhorn and Knopp 1967; as Megatron-Core's sinkhorn). Sums run over all rows in order, so this
/// part is one thread's.
void run(device::HostStream&, const Sinkhorn& k) {
  check_row(k.logits);
  const Index t = k.logits.size(0), n = k.logits.size(1);
  float* cost = k.scores.as<float>();
  auto* d0 = static_cast<float*>(k.workspace.data);
  float *d1 = d0 + t, *columns = d1 + n;
  visit_routing_dtype(k.logits.dtype, [&]<class T, class Tx>() {
    const RowReader<T, Tx> logits(k.logits);
    for_blocks(t, k.logits.numel() * kRowWork, [&](Index row) {
      router::Row<T> x;
      logits.read(row, x.data());
      std::transform(x.data(), x.data() + n, cost + row * n,
                     [](T logit) { return std::exp(static_cast<float>(logit)); });
    });
  });
  std::fill_n(d1, n, 1.F);
  float change = 1;
  while (static_cast<double>(change) > k.tolerance) {
    std::fill_n(columns, n, 0.F);
    for (Index row = 0; row < t; ++row) {
      const float* c = cost + row * n;
      float sum = 0;
      for (Index i = 0; i < n; ++i) {
        sum += d1[i] * c[i];
      }
      d0[row] = 1 / (static_cast<float>(t) * (sum + 1e-8F));
      for (Index i = 0; i < n; ++i) {
        columns[i] += d0[row] * c[i];
      }
    }
    change = 0;
    for (Index i = 0; i < n; ++i) {
      const float next = 1 / (static_cast<float>(n) * (columns[i] + 1e-8F));
      change += std::abs(next - d1[i]) / static_cast<float>(n);
      d1[i] = next;
    }
  }
  for_blocks(t, t * n, [&](Index row) {
    for (Index i = 0; i < n; ++i) {
      cost[row * n + i] *= d1[i] * d0[row];
    }
  });
}

}  // namespace mpitron::kernels

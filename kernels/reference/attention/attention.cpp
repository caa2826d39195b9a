// Defines what attention computes, as plain loops over queries and keys in double: one row at a
// time, with every rule of visibility in `Row::sees`. Kernels of all devices are compared with
// these sums.
#include "kernels/attention/attention.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "kernels/reference/common/elements.h"

namespace mpitron::kernels {

using reference::Reader;
using reference::Writer;

namespace {

/// One query row of one head: which keys it sees and with which probability. Nothing but the
/// outputs is rounded, also for bf16 and fp16.
template <class Kernel>
class Row {
 public:
  Row(const Kernel& kernel, Index query, Index sample, Index head)
      : kernel_(kernel),
        query_(query),
        sample_(sample),
        head_(head),
        group_(head / (kernel.q.size(2) / kernel.k.size(2))),
        positions_(kernel.positions.value_or(last_positions(kernel.q.size(0), kernel.k.size(0)))) {}

  Index group() const { return group_; }

  /// Tells whether the query sees a key: causal order, window and document mask in one place, so
  /// that forward and backward agree.
  bool sees(Index key) const {
    const Index diagonal = positions_.queries(query_), column = positions_.keys(key);
    const Index mask_sample = kernel_.mask && kernel_.mask.size(0) > 1 ? sample_ : 0;
    const Index mask_row = kernel_.mask && kernel_.mask.size(1) > 1 ? query_ : 0;
    return !(kernel_.causal && column > std::max(diagonal, seen_until(diagonal))) &&
           !(kernel_.window >= 0 && column < diagonal - kernel_.window) &&
           !(kernel_.mask && Reader(kernel_.mask)(mask_sample, mask_row, column) != 0);
  }

  /// Returns the last position that causal order leaves to the query in any case; `own` if none is
  /// told.
  Index seen_until(Index own) const {
    const In& until = kernel_.seen_until;
    const Index sample = until && until.size(0) > 1 ? sample_ : 0;
    return until ? until.as<std::int64_t>()[sample * until.stride(0) + query_] : own;
  }

  /// Returns scale q k within the soft cap, in double.
  double product(Index key) const {
    const Reader q(kernel_.q), k(kernel_.k);
    double sum = 0;
    for (Index i = 0; i < kernel_.q.size(3); ++i) {
      sum += q(query_, sample_, head_, i) * k(key, sample_, group_, i);
    }
    const double scaled = kernel_.scale * sum, cap = kernel_.softcap;
    return cap > 0 ? cap * std::tanh(scaled / cap) : scaled;
  }

  /// Returns the product, and the bias of the distance.
  double score(Index key) const {
    return product(key) + (kernel_.bias ? Reader(kernel_.bias)(head_, distance(key)) : 0);
  }

  /// Returns the derivative of the product by what the soft cap bounds.
  double slope(Index key) const {
    const double share = kernel_.softcap > 0 ? product(key) / kernel_.softcap : 0;
    return 1 - share * share;
  }

  /// Returns the place of the bias of this query and the key.
  Index distance(Index key) const { return key - query_ + kernel_.q.size(0) - 1; }

  /// Returns the factor by which dropout multiplies the probability.
  double kept(Index key) const {
    const DropoutMask& mask = kernel_.dropout;
    if (!mask.active()) {
      return 1;
    }
    const bool keeps =
        attention_dropout_keeps(mask, mask.index.sequence(query_), positions_.keys(key),
                                head_ + mask.index.column_offset, mask.index.sample(sample_));
    return keeps ? mask.keep_scale() : 0;
  }

 private:
  const Kernel& kernel_;
  Index query_, sample_, head_, group_;
  AttentionPositions positions_;
};

/// Calls visit(query, sample, head) for every row of q.
template <class Kernel, class F>
void for_each_row(const Kernel& kernel, F&& visit) {
  for (Index sample = 0; sample < kernel.q.size(1); ++sample) {
    for (Index head = 0; head < kernel.q.size(2); ++head) {
      for (Index query = 0; query < kernel.q.size(0); ++query) {
        visit(query, sample, head);
      }
    }
  }
}

/// Softmax by the row's largest score, as the kernels; rows that see nothing are zero.
void forward_row(const AttentionForward& kernel, Index query, Index sample, Index head) {
  const Row row(kernel, query, sample, head);
  const Reader v(kernel.v);
  std::vector<Index> keys;
  std::vector<double> scores;
  for (Index key = 0; key < kernel.k.size(0); ++key) {
    if (row.sees(key)) {
      keys.push_back(key);
      scores.push_back(row.score(key));
    }
  }
  const double largest = keys.empty() ? 0 : *std::max_element(scores.begin(), scores.end());
  double sum = 0;
  for (double score : scores) {
    sum += std::exp(score - largest);
  }
  const double lse =
      keys.empty() ? -std::numeric_limits<double>::infinity() : largest + std::log(sum);
  Writer(kernel.lse).set(lse, sample, head, query);
  for (Index i = 0; i < kernel.o.size(3); ++i) {
    double o = 0;
    for (std::size_t j = 0; j < keys.size(); ++j) {
      o += std::exp(scores[j] - lse) * row.kept(keys[j]) * v(keys[j], sample, row.group(), i);
    }
    Writer(kernel.o).set(o, query, sample, head, i);
  }
}

/// Gradients in double until the last contribution; a group's key gradients sum over its heads.
class Gradient {
 public:
  explicit Gradient(const Out& view)
      : view_(view), sums_(static_cast<std::size_t>(view.numel()), 0.0) {}

  double& operator()(Index position, Index sample, Index head, Index i) {
    const Index rows = (position * view_.size(1) + sample) * view_.size(2) + head;
    return sums_[static_cast<std::size_t>(rows * view_.size(3) + i)];
  }
  void store() const {
    for (Index i = 0; i < view_.numel(); ++i) {
      Writer(view_).set(sums_[static_cast<std::size_t>(i)], i);
    }
  }

 private:
  Out view_;
  std::vector<double> sums_;
};

/// Gradients of a pass; they are summed over all rows before they are rounded.
struct Gradients {
  Gradient dq, dk, dv;
};

/// ds = p (dp - delta), with delta = rowsum(o d_o); dropout acts on p and dp alike.
void backward_row(const AttentionBackward& kernel, Index query, Index sample, Index head,
                  Gradients& to) {
  const Row row(kernel, query, sample, head);
  const Reader q(kernel.q), k(kernel.k), v(kernel.v), o(kernel.o), d_o(kernel.d_o);
  const Index g = row.group();
  const double lse = Reader(kernel.lse)(sample, head, query);
  double o_dot_do = 0;
  for (Index i = 0; i < kernel.o.size(3); ++i) {
    o_dot_do += o(query, sample, head, i) * d_o(query, sample, head, i);
  }
  for (Index key = 0; key < kernel.k.size(0); ++key) {
    if (!row.sees(key)) {
      continue;
    }
    const double p = std::exp(row.score(key) - lse);
    const double kept = row.kept(key);
    double dp = 0;
    for (Index i = 0; i < kernel.o.size(3); ++i) {
      dp += d_o(query, sample, head, i) * v(key, sample, g, i);
      to.dv(key, sample, g, i) += p * kept * d_o(query, sample, head, i);
    }
    const double dscore = p * (dp * kept - o_dot_do);
    const double ds = dscore * row.slope(key) * kernel.scale;
    if (kernel.dbias) {
      Writer(kernel.dbias).add(dscore, sample, head, row.distance(key));
    }
    for (Index i = 0; i < kernel.q.size(3); ++i) {
      to.dq(query, sample, head, i) += ds * k(key, sample, g, i);
      to.dk(key, sample, g, i) += ds * q(query, sample, head, i);
    }
  }
}

/// Cuts one group out of a [s, b, g, n/g, d] view, as [s, b, n/g, d].
template <class View>
View group_of(const View& view, Index group) {
  const View one = device::slice(view, 2, group, group + 1);
  return View(one.data, one.dtype, {one.size(0), one.size(1), one.size(3), one.size(4)},
              {one.stride(0), one.stride(1), one.stride(3), one.stride(4)});
}

/// Calls run(kernel) with heads of rank 4: the kernel itself, or one kernel for each group where
/// the query heads are [g, n/g].
template <class Kernel, class Select, class Run>
void for_each_group(const Kernel& kernel, Select&& select, Run&& run) {
  if (kernel.q.shape.rank() == 4) {
    run(kernel);
    return;
  }
  const Index heads = kernel.q.size(3);
  for (Index group = 0; group < kernel.q.size(2); ++group) {
    Kernel one = kernel;
    one.q = group_of(kernel.q, group);
    one.k = device::slice(kernel.k, 2, group, group + 1);
    one.v = device::slice(kernel.v, 2, group, group + 1);
    one.lse = device::slice(kernel.lse, 1, group * heads, (group + 1) * heads);
    if (kernel.bias) {
      one.bias = device::slice(kernel.bias, 0, group * heads, (group + 1) * heads);
    }
    one.dropout.index.column_offset += group * heads;
    select(one, group);
    run(one);
  }
}

void forward(const AttentionForward& kernel) {
  for_each_row(kernel, [&](Index query, Index sample, Index head) {
    forward_row(kernel, query, sample, head);
  });
}

/// Sums the gradients of all rows in double and rounds them once at the end.
void backward(const AttentionBackward& kernel) {
  for (Index i = 0; kernel.dbias && i < kernel.dbias.numel(); ++i) {
    Writer(kernel.dbias).set(0, i);
  }
  Gradients gradients{Gradient(kernel.dq), Gradient(kernel.dk), Gradient(kernel.dv)};
  for_each_row(kernel, [&](Index query, Index sample, Index head) {
    backward_row(kernel, query, sample, head, gradients);
  });
  gradients.dq.store();
  gradients.dk.store();
  gradients.dv.store();
}

}  // namespace

void run(device::ReferenceStream&, const AttentionForward& kernel) {
  const auto select = [&](AttentionForward& one, Index group) {
    one.o = group_of<device::TensorView>(kernel.o, group);
  };
  for_each_group(kernel, select, forward);
}

/// Groups are independent: query heads of one group share its key and value.
void run(device::ReferenceStream&, const AttentionBackward& kernel) {
  const auto select = [&](AttentionBackward& one, Index group) {
    one.o = group_of(kernel.o, group);
    one.d_o = group_of(kernel.d_o, group);
    one.dq = group_of<device::TensorView>(kernel.dq, group);
    one.dk = device::slice(kernel.dk, 2, group, group + 1);
    one.dv = device::slice(kernel.dv, 2, group, group + 1);
    if (kernel.dbias) {
      const Index heads = kernel.q.size(3);
      one.dbias = device::slice(kernel.dbias, 1, group * heads, (group + 1) * heads);
    }
  };
  for_each_group(kernel, select, backward);
}

}  // namespace mpitron::kernels

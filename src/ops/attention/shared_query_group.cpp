// Shares the key and value of one query group among several ranks, where a layer has fewer groups
// than ranks: each computes a part of their columns, the parts are exchanged, and gradients are
// summed on the way back.
#include "ops/attention/shared_query_group.h"

#include "autograd/gradient.h"
#include "kernels/elementwise/elementwise.h"
#include "ops/parallel/rows.h"

namespace mpitron::ops {
namespace {

using autograd::Slot;
using tensor::Tensor;

/// The exchange of keys and values among the ranks that share a query group.
class KeyValueExchange {
 public:
  KeyValueExchange(const QkvShare& share, const TensorParallel& shared)
      : sharers_(share.sharers),
        d_(share.local.head_dim),
        part_(d_ / share.sharers),
        queries_(share.local.heads * d_),
        group_(shared.group),
        counts_(static_cast<std::size_t>(shared.size()), 0),
        first_(shared.rank() / sharers_ * sharers_) {}

  Tensor forward(Context& context, const Tensor& x) {
    const Tensor rows = fold_rows(x), y = context.empty(with_last(x, queries_ + 2 * d_), x.dtype());
    const Tensor sent = context.empty({sharers_, rows.shape()[0], 2 * part_}, x.dtype());
    for (Index i = 0; i < sharers_; ++i) {
      copy(context, columns(rows, queries_, 2 * part_), piece(sent, i));
    }
    const Tensor parts = exchange(context, sent), y_rows = fold_rows(y);
    copy(context, columns(rows, 0, queries_), columns(y_rows, 0, queries_));
    for_each_part(y_rows, parts,
                  [&](const Tensor& whole, const Tensor& part) { copy(context, part, whole); });
    return y;
  }

  Tensor backward(Context& context, const Tensor& dy) {
    const Tensor rows = fold_rows(dy);
    const Tensor dx = context.empty(with_last(dy, queries_ + 2 * part_), dy.dtype());
    const Tensor sent = context.empty({sharers_, rows.shape()[0], 2 * part_}, dy.dtype());
    for_each_part(rows, sent,
                  [&](const Tensor& whole, const Tensor& part) { copy(context, whole, part); });
    const Tensor parts = exchange(context, sent), dx_rows = fold_rows(dx);
    copy(context, columns(rows, 0, queries_), columns(dx_rows, 0, queries_));
    copy(context, sum(context, parts), columns(dx_rows, queries_, 2 * part_));
    return dx;
  }

 private:
  static Shape with_last(const Tensor& x, Index width) {
    Shape shape = x.shape();
    shape[-1] = width;
    return shape;
  }
  static void copy(Context& context, const Tensor& from, const Tensor& to) {
    context.launch(kernels::Cast{.x = from.view(), .y = to.view()});
  }
  static Tensor columns(const Tensor& rows, Index begin, Index count) {
    return rows.slice(1, begin, begin + count);
  }
  static Tensor piece(const Tensor& pieces, Index i) {
    return pieces.slice(0, i, i + 1).reshape({pieces.shape()[1], pieces.shape()[2]});
  }
  /// visit(columns of key or value in the whole qkv, the same of piece i: key, then value).
  template <class Visit>
  void for_each_part(const Tensor& rows, const Tensor& pieces, Visit&& visit) const {
    for (Index i = 0; i < sharers_; ++i) {
      for (const Index half : {0, 1}) {
        visit(columns(rows, queries_ + half * d_ + i * part_, part_),
              columns(piece(pieces, i), half * part_, part_));
      }
    }
  }
  Tensor exchange(Context& context, const Tensor& sent) {
    const Tensor received = context.empty(sent.shape(), sent.dtype());
    std::fill_n(counts_.begin() + first_, sharers_, sent.numel() / sharers_);
    group_->all_to_all(sent, received.view(), counts_, counts_).wait();
    return received;
  }
  Tensor sum(Context& context, const Tensor& parts) const {
    const DType dtype = parts.dtype() == DType::f64 ? DType::f64 : DType::f32;
    const Tensor total = context.empty({parts.shape()[1], parts.shape()[2]}, dtype);
    copy(context, piece(parts, 0), total);
    for (Index i = 1; i < sharers_; ++i) {
      context.launch(
          kernels::Add{.a = total.view(), .b = piece(parts, i).view(), .y = total.view()});
    }
    return total;
  }

  const Index sharers_, d_, part_, queries_;
  comm::Group* group_;
  std::vector<Index> counts_;
  const Index first_;  // rank of the group that this query group starts at
};

struct JoinGroupBackward {
  Slot x_slot;
  QkvShare share;
  TensorParallel shared;

  void operator()(Context& context, Tensor gradient) const {
    autograd::accumulate(context, x_slot,
                         KeyValueExchange(share, shared).backward(context, gradient));
  }
};

}  // namespace

QkvShare qkv_share(const QkvLayout& whole, const TensorParallel& shared, bool gated) {
  const Index ranks = shared.size(), groups = whole.query_groups, d = whole.head_dim;
  const Index gates = gated ? whole.heads * d : 0;
  MPITRON_CHECK(whole.heads % ranks == 0, whole.heads, ranks);
  if (groups % ranks == 0) {
    return {.local = {whole.heads / ranks, groups / ranks, d},
            .rows = tensor::even_shard(0, whole.width() + gates, {shared.rank(), ranks})};
  }
  MPITRON_CHECK(ranks % groups == 0 && d % (ranks / groups) == 0, ranks, groups, d);
  QkvShare share{.local = {whole.heads / ranks, 1, d}, .rows = {}, .sharers = ranks / groups};
  const Index place = shared.rank() % share.sharers, part = d / share.sharers;
  const Index of_group = whole.queries_per_group() * d, queries = share.local.heads * d;
  const Index first =
      shared.rank() / share.sharers * (of_group + gates / groups + 2 * d) + place * queries;
  const Index key = first - place * queries + of_group + gates / groups + place * part;
  share.rows.ranges = {{first, first + queries}, {key, key + part}, {key + d, key + d + part}};
  if (gated) {
    share.rows.ranges.insert(share.rows.ranges.begin() + 1,
                             {first + of_group, first + of_group + queries});
  }
  return share;
}

Var join_keys_values(Context& context, const Var& x, const QkvShare& share,
                     const TensorParallel& shared) {
  if (share.sharers == 1) {
    return x;
  }
  Var result = autograd::variable(KeyValueExchange(share, shared).forward(context, x.value));
  if (context.recording()) {
    context.record(result.slot, JoinGroupBackward{x.slot, share, shared});
  }
  return result;
}

}  // namespace mpitron::ops

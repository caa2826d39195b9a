// Rotates queries and keys of a fused tensor in place, and cuts the tables of angles to the
// positions that a rank has. The backward pass turns the gradient back by the same tables.
#include "ops/attention/rotary.h"

#include <algorithm>

#include "autograd/gradient.h"
#include "kernels/attention/rotary.h"
#include "kernels/elementwise/elementwise.h"
#include "kernels/elementwise/embedding.h"
#include "ops/elementwise/embedding.h"

namespace mpitron::ops {
namespace {

using autograd::Slot;
using tensor::Tensor;

void rotate(Context& context, const Tensor& qkv, const QkvLayout& layout,
            const RotaryTables& tables, bool inverse) {
  // Tables of each sample's own positions take its rows for positions of one sample.
  const Index s = qkv.shape()[0], b = qkv.shape()[1], rows = tables.cos.shape()[0];
  const auto fused = device::reshape(
      qkv.view(), {rows == s * b ? rows : s, rows == s * b ? 1 : b, qkv.shape()[2]});
  // A group's queries and its key lie side by side: one launch for both.
  context.launch(kernels::RotaryEmbedding{
      .x = layout.heads_of_groups(fused, 0, layout.queries_per_group() + 1),
      .cos = tables.cos.view(),
      .sin = tables.sin.view(),
      .interleaved = tables.interleaved,
      .inverse = inverse});
}

struct RotaryBackward {
  Slot qkv_slot;
  QkvLayout layout;
  RotaryTables tables;

  void operator()(Context& context, Tensor gradient) const {
    MPITRON_CHECK(gradient.unique());
    rotate(context, gradient, layout, tables, true);
    autograd::accumulate(context, qkv_slot, std::move(gradient));
  }
};

}  // namespace

Var rotary(Context& context, const Var& qkv, const QkvLayout& layout, const RotaryTables& tables) {
  rotate(context, qkv.value, layout, tables, false);
  Var result = autograd::variable(qkv.value);
  if (context.recording()) {
    context.record(result.slot, RotaryBackward{qkv.slot, layout, tables});
  }
  return result;
}

/// Rows that are no neighbours are copied.
Tensor position_rows(Context& context, const Tensor& table, const SequenceSlice& positions) {
  const SequenceMap& map = positions.map;
  if (map.whole()) {
    return table.slice(0, 0, positions.length);
  }
  const Tensor rows = context.empty({positions.length, table.shape()[1]}, table.dtype());
  const auto copy = [&](Index begin, Index end) {
    if (begin < end) {
      context.launch(kernels::Cast{.x = table.slice(0, map(begin), map(end - 1) + 1).view(),
                                   .y = rows.slice(0, begin, end).view()});
    }
  };
  const Index split = std::min(map.split, positions.length);
  copy(0, split);
  copy(split, positions.length);
  return rows;
}

Tensor position_rows(Context& context, const Tensor& table, const Tensor& positions) {
  return take_rows(context, table, positions);
}

RotaryTables rotary_rows(Context& context, const RotaryTables& tables,
                         const SequenceSlice& positions) {
  return {.cos = position_rows(context, tables.cos, positions),
          .sin = position_rows(context, tables.sin, positions),
          .interleaved = tables.interleaved};
}

RotaryTables rotary_rows(Context& context, const RotaryTables& tables, const Tensor& positions) {
  return {.cos = position_rows(context, tables.cos, positions),
          .sin = position_rows(context, tables.sin, positions),
          .interleaved = tables.interleaved};
}

RotaryTables rotary_rows(Context& context, const RotaryTables& tables, const Tensor& places,
                         std::span<const Index> sections) {
  MPITRON_CHECK(places.shape()[0] == static_cast<Index>(sections.size()), places.shape()[0]);
  const Index t = places.shape()[1];
  const auto rows = [&](const Tensor& table) {
    const Tensor result = context.empty({t, table.shape()[1]}, table.dtype());
    Index begin = 0;
    for (std::size_t axis = 0; axis < sections.size(); ++axis) {
      const auto row = static_cast<Index>(axis);
      const Index end = begin + sections[axis];
      context.launch(
          kernels::EmbeddingForward{.ids = places.slice(0, row, row + 1).reshape({t}).view(),
                                    .table = device::slice(table.view(), 1, begin, end),
                                    .y = device::slice(result.view(), 1, begin, end)});
      begin = end;
    }
    MPITRON_CHECK(begin == table.shape()[1], begin, table.shape()[1]);
    return result;
  };
  return {.cos = rows(tables.cos), .sin = rows(tables.sin), .interleaved = tables.interleaved};
}

}  // namespace mpitron::ops

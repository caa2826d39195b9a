// Exchanges the sequence for heads among context parallel ranks around a recurrence, which must see
// its positions in order on one rank.
#include "ops/state_space/head_exchange.h"

#include "kernels/elementwise/elementwise.h"

namespace mpitron::ops {

using tensor::Tensor;
using Range = tensor::Shard::Range;

HeadShare HeadExchange::share() const {
  return group_ == nullptr ? HeadShare{} : HeadShare{group_->rank(), group_->size()};
}

Range HeadExchange::piece(const ColumnPart& part, Index rank) const {
  const Index width = part.width / part.pieces;
  const Index begin = part.begin + rank * part.pieces / share().size * width;
  return {begin, begin + width};
}

Index HeadExchange::own_width() const {
  Index width = 0;
  for (const ColumnPart& part : parts_) {
    width += part.width / part.pieces;
  }
  return width;
}

Tensor HeadExchange::to_heads(Context& context, const Tensor& x) const {
  const Index ranks = share().size, width = own_width(), rows = x.shape()[0];
  const Tensor sent = context.empty({rows, x.shape()[1], ranks * width}, x.dtype());
  Index at = 0;
  for (Index rank = 0; rank < ranks; ++rank) {
    for (const ColumnPart& part : parts_) {
      const Range from = piece(part, rank);
      context.launch(kernels::Cast{.x = x.slice(2, from.begin, from.end).view(),
                                   .y = sent.slice(2, at, at + from.size()).view()});
      at += from.size();
    }
  }
  return columns_to_heads(context, sent, *group_);
}

void HeadExchange::to_sequence(Context& context, const Tensor& gradient, const Tensor& dx) const {
  const Tensor received = columns_to_sequence(context, gradient, *group_);
  const auto copy = [&](const Tensor& from, const Tensor& to) {
    context.launch(kernels::Cast{.x = from.view(), .y = to.view()});
  };
  const Index ranks = share().size, width = own_width();
  Index at = 0;  // of the part in a rank's columns
  for (const ColumnPart& part : parts_) {
    const Index own = part.width / part.pieces, sharing = ranks / part.pieces;
    for (Index first = 0; first < ranks; first += sharing) {
      const auto columns = [&](Index rank) {
        return received.slice(2, rank * width + at, rank * width + at + own);
      };
      const Range range = piece(part, first);
      const Tensor to = dx.slice(2, range.begin, range.end);
      if (sharing == 1) {
        copy(columns(first), to);
        continue;
      }
      const Tensor sum = context.empty(columns(first).shape(), dx.dtype());
      const Tensor next = context.empty(sum.shape(), dx.dtype());
      copy(columns(first), sum);
      for (Index rank = first + 1; rank < first + sharing; ++rank) {
        copy(columns(rank), next);
        context.launch(kernels::Add{.a = sum.view(), .b = next.view(), .y = sum.view()});
      }
      copy(sum, to);
    }
    at += own;
  }
}

Tensor HeadExchange::join_heads(Context& context, const Tensor& y) const {
  return columns_to_sequence(context, y, *group_);
}

Tensor HeadExchange::cut_heads(Context& context, const Tensor& y) const {
  return columns_to_heads(context, y, *group_);
}

std::vector<Range> HeadExchange::own_rows(Index first, Index last) const {
  if (!shared()) {
    return {{0, last - first}};
  }
  std::vector<Range> rows;
  for (const ColumnPart& part : parts_) {
    if (part.begin >= first && part.begin < last) {
      const Range own = piece(part, share().rank);
      rows.push_back({own.begin - first, own.end - first});
    }
  }
  return rows;
}

}  // namespace mpitron::ops

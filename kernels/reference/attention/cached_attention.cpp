#include "kernels/attention/cached_attention.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/reference/common/elements.h"

namespace mpitron::kernels {

using reference::Reader;
using reference::Writer;

namespace {

/// Where a position of a sequence lies.
struct Place {
  Index block, offset;
};

Place place_of(const CachedPiece& piece, Index position, Index block_size) {
  return {piece.blocks[static_cast<std::size_t>(position / block_size)], position % block_size};
}

/// Rows of a piece go to their places in the blocks of the sequence's cache.
void append(const In& from, const Out& cache, const CachedPiece& piece) {
  const Reader x(from);
  const Writer y(cache);
  for (Index i = 0; i < piece.rows; ++i) {
    const Place to = place_of(piece, piece.first_position + i, cache.size(2));
    for (Index group = 0; group < cache.size(1); ++group) {
      for (Index d = 0; d < cache.size(3); ++d) {
        y.set(x(piece.first_row + i, 0, group, d), to.block, group, to.offset, d);
      }
    }
  }
}

/// One head of one row.
struct Query {
  const CachedPiece& piece;
  Index row, group, head;  // `head`: of the group
};

/// From the first key of the window on.
std::vector<double> scores_of(const CachedAttention& k, const Query& query, Index first,
                              Index position) {
  const Reader q(k.q), keys(k.key_cache);
  std::vector<double> scores;
  for (Index other = first; other <= position; ++other) {
    const Place at = place_of(query.piece, other, k.key_cache.size(2));
    double score = 0;
    for (Index d = 0; d < k.key_cache.size(3); ++d) {
      score +=
          q(query.row, 0, query.group, query.head, d) * keys(at.block, query.group, at.offset, d);
    }
    scores.push_back(score * static_cast<double>(k.scale));
  }
  return scores;
}

/// A query sees keys up to its own position, those of earlier pieces in the cache.
void attend(const CachedAttention& k, const Query& query) {
  const Index position = query.piece.first_position + query.row - query.piece.first_row;
  const Index first = k.window >= 0 ? std::max<Index>(position - k.window, 0) : 0;
  const Index head = query.group * k.q.size(3) + query.head;
  const std::vector<double> scores = scores_of(k, query, first, position);
  double largest = *std::ranges::max_element(scores), sum = 0;
  if (k.sinks || k.zero_sink) {
    const double sink = k.sinks ? Reader(k.sinks)(head) : 0;
    largest = std::max(largest, sink);
    sum = std::exp(sink - largest);
  }
  for (const double score : scores) {
    sum += std::exp(score - largest);
  }
  const Reader values(k.value_cache);
  const Writer o(k.o);
  for (Index d = 0; d < k.value_cache.size(3); ++d) {
    double value = 0;
    for (std::size_t i = 0; i < scores.size(); ++i) {
      const Place at = place_of(query.piece, first + static_cast<Index>(i), k.value_cache.size(2));
      value += std::exp(scores[i] - largest) * values(at.block, query.group, at.offset, d);
    }
    o.set(value / sum, query.row, head, d);
  }
}

}  // namespace

void run(device::ReferenceStream&, const CacheAppend& kernel) {
  for (const CachedPiece& piece : kernel.pieces) {
    append(kernel.k, kernel.key_cache, piece);
    append(kernel.v, kernel.value_cache, piece);
  }
}

/// Pieces are of different sequences and do not see each other.
void run(device::ReferenceStream&, const CachedAttention& kernel) {
  for (const CachedPiece& piece : kernel.pieces) {
    for (Index row = piece.first_row; row < piece.first_row + piece.rows; ++row) {
      for (Index group = 0; group < kernel.q.size(2); ++group) {
        for (Index head = 0; head < kernel.q.size(3); ++head) {
          attend(kernel, {piece, row, group, head});
        }
      }
    }
  }
}

}  // namespace mpitron::kernels

// Defines the attention of generation: a query of a piece sees the cached keys of its sequence up
// to its own position, or to the end of a piece whose rows see each other. Scores, softmax and sums
// are double; neither batch nor blocks appear in the formula, which is what kernels have to
// reproduce.
#include "kernels/attention/cached_attention.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/reference/common/elements.h"

namespace mpitron::kernels {

using reference::Reader;
using reference::Writer;

namespace {

/// The place of a position: a block of the cache, and its row there.
struct Place {
  Index block, offset;
};

Place place_of(const CachedPiece& piece, Index position, Index block_size) {
  return {piece.blocks[static_cast<std::size_t>(position / block_size)], position % block_size};
}

/// Tells whether this rank has the position: with context parallelism blocks of others are -1.
bool is_here(const CachedPiece& piece, Index position, Index block_size) {
  return place_of(piece, position, block_size).block >= 0;
}

/// Puts the rows of a piece to their places in the blocks of the sequence's cache.
void append(const In& from, const Out& cache, const CachedPiece& piece) {
  const Reader x(from);
  const Writer y(cache);
  for (Index i = 0; i < piece.rows; ++i) {
    const Place to = place_of(piece, piece.first_position + i, cache.size(2));
    if (to.block < 0) {
      continue;
    }
    for (Index group = 0; group < cache.size(1); ++group) {
      for (Index d = 0; d < cache.size(3); ++d) {
        y.set(x(piece.first_row + i, 0, group, d), to.block, group, to.offset, d);
      }
    }
  }
}

/// A query: one head of one row.
struct Query {
  const CachedPiece& piece;
  Index row, group, head;  // `head`: of the group
};

/// A visible position and its score.
struct Score {
  Index position;
  double value;
};

/// Returns the scores of visible positions from the first key of the window on, those that this
/// rank has.
std::vector<Score> scores_of(const CachedAttention& k, const Query& query, Index first,
                             Index position, Index last) {
  const Reader q(k.q), keys(k.key_cache), bias(k.bias);
  const Index head = query.group * k.q.size(3) + query.head, size = k.key_cache.size(2);
  const Index middle = k.bias ? k.bias.size(0) / 2 : 0;
  std::vector<Score> scores;
  for (Index other = first; other <= last; ++other) {
    if (!is_here(query.piece, other, size)) {
      continue;
    }
    const Place at = place_of(query.piece, other, size);
    double score = 0;
    for (Index d = 0; d < k.key_cache.size(3); ++d) {
      score +=
          q(query.row, 0, query.group, query.head, d) * keys(at.block, query.group, at.offset, d);
    }
    score *= static_cast<double>(k.scale);
    const double cap = k.softcap;
    score = cap > 0 ? cap * std::tanh(score / cap) : score;
    scores.push_back({other, score + (k.bias ? bias(other - position + middle, head) : 0)});
  }
  return scores;
}

/// Attends with one query, which sees keys up to its own position, or to that of its piece's last
/// row, those of earlier pieces in the cache.
void attend(const CachedAttention& k, const Query& query) {
  const Index position =
      query.piece.first_position + (k.causal ? query.row - query.piece.first_row : 0);
  const CachedPiece& piece = query.piece;
  const Index first = k.window >= 0 ? std::max<Index>(position - k.window, 0) : 0;
  const Index last = piece.together ? piece.first_position + piece.rows - 1 : position;
  const Index head = query.group * k.q.size(3) + query.head;
  const std::vector<Score> scores = scores_of(k, query, first, position, last);
  double largest = -INFINITY, sum = 0;
  for (const Score& score : scores) {
    largest = std::max(largest, score.value);
  }
  if (k.sinks || k.zero_sink) {
    const double sink = k.sinks ? Reader(k.sinks)(head) : 0;
    largest = std::max(largest, sink);
    sum = std::exp(sink - largest);
  }
  for (const Score& score : scores) {
    sum += std::exp(score.value - largest);
  }
  const Reader values(k.value_cache);
  const Writer o(k.o);
  for (Index d = 0; d < k.value_cache.size(3); ++d) {
    double value = 0;
    for (const Score& score : scores) {
      const Place at = place_of(query.piece, score.position, k.value_cache.size(2));
      value += std::exp(score.value - largest) * values(at.block, query.group, at.offset, d);
    }
    o.set(sum > 0 ? value / sum : 0, query.row, head, d);
  }
  if (k.lse) {
    Writer(k.lse).set(sum > 0 ? largest + std::log(sum) : -INFINITY, query.row, head);
  }
}

}  // namespace

void run(device::ReferenceStream&, const CacheAppend& kernel) {
  for (const CachedPiece& piece : kernel.pieces) {
    append(kernel.k, kernel.key_cache, piece);
    append(kernel.v, kernel.value_cache, piece);
  }
}

/// Pieces see each other through the cache alone.
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

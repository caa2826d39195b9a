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

/// Keys or values, and their cache.
struct RowsOfPart {
  In from;
  Out cache;
};

/// Puts a row of some parts, rounded to 8 bits with one scale, to its place.
void append_rounded(std::span<const RowsOfPart> parts, const Out& scales, Index row, Index group,
                    const Place& to) {
  RowRange range;
  for (const RowsOfPart& part : parts) {
    for (Index d = 0; d < part.cache.size(3); ++d) {
      range.add(static_cast<float>(Reader(part.from)(row, 0, group, d)));
    }
  }
  const std::uint8_t scale = range.scale();
  for (const RowsOfPart& part : parts) {
    for (Index d = 0; d < part.cache.size(3); ++d) {
      const auto x = static_cast<float>(Reader(part.from)(row, 0, group, d));
      Writer(part.cache)
          .set(cached_byte(x * to_cached_range(scale)).bits, to.block, group, to.offset, d);
    }
  }
  Writer(scales).set(scale, to.block, group, to.offset);
}

void append_one(const CacheAppend& k, Index row, Index group, const Place& to) {
  const RowsOfPart parts[] = {{k.k, k.key_cache}, {k.v, k.value_cache}};
  if (k.key_scales && !k.value_scales) {
    return append_rounded(parts, k.key_scales, row, group, to);
  }
  if (k.key_scales) {
    append_rounded(std::span(parts).first(1), k.key_scales, row, group, to);
    return append_rounded(std::span(parts).last(1), k.value_scales, row, group, to);
  }
  for (const RowsOfPart& part : parts) {
    for (Index d = 0; d < part.cache.size(3); ++d) {
      Writer(part.cache).set(Reader(part.from)(row, 0, group, d), to.block, group, to.offset, d);
    }
  }
}

/// A cache as numbers, whatever their type.
class CachedReader {
 public:
  CachedReader(const In& cache, const In& scales) : numbers_(cache), scales_(scales) {}

  double operator()(const Place& at, Index group, Index d) const {
    const double number = numbers_(at.block, group, at.offset, d);
    if (!scales_) {
      return number;
    }
    const auto scale = static_cast<std::uint8_t>(scales_(at.block, group, at.offset));
    return static_cast<double>(static_cast<float>(CachedByte{static_cast<std::uint8_t>(number)})) *
           static_cast<double>(cached_factor(scale));
  }

 private:
  Reader numbers_, scales_;
};

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
  const Reader q(k.q), bias(k.bias);
  const CachedReader keys(k.key_cache, k.key_scales);
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
      score += q(query.row, 0, query.group, query.head, d) * keys(at, query.group, d);
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
  const CachedReader values(k.value_cache, k.value_scales);
  const Writer o(k.o);
  for (Index d = 0; d < k.value_cache.size(3); ++d) {
    double value = 0;
    for (const Score& score : scores) {
      const Place at = place_of(query.piece, score.position, k.value_cache.size(2));
      value += std::exp(score.value - largest) * values(at, query.group, d);
    }
    o.set(sum > 0 ? value / sum : 0, query.row, head, d);
  }
  if (k.lse) {
    Writer(k.lse).set(sum > 0 ? largest + std::log(sum) : -INFINITY, query.row, head);
  }
}

}  // namespace

/// Puts the rows of all pieces to their places in the blocks of the sequences' caches.
void run(device::ReferenceStream&, const CacheAppend& kernel) {
  check(kernel);
  const Index size = kernel.key_cache.size(2);
  for (const CachedPiece& piece : kernel.pieces) {
    for (Index i = 0; i < piece.rows; ++i) {
      const Place to = place_of(piece, piece.first_position + i, size);
      for (Index group = 0; to.block >= 0 && group < kernel.key_cache.size(1); ++group) {
        append_one(kernel, piece.first_row + i, group, to);
      }
    }
  }
}

/// Pieces see each other through the cache alone.
void run(device::ReferenceStream&, const CachedAttention& kernel) {
  check(kernel);
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

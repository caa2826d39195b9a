#pragma once
#include <algorithm>

#include "kernels/attention/cached_attention.h"
#include "kernels/host/attention/cached_group.h"

// Where queries of a step and the positions that they see lie in the cache, in the order in which a
// thread of cached_attention.cpp goes through them.

namespace mpitron::kernels::host::cached {

/// A few queries of one sequence: either of one group of heads, of which number i is head i % n/g
/// of row i / (n/g), or those of one row in several groups of one head each, whose keys lie behind
/// each other.
struct Tile {
  CachedPiece piece;
  Index group = 0, groups = 1, first = 0, count = 0;
};

/// Up to sixteen neighbouring positions; without keys where they are not here.
template <class T>
struct Positions {
  Index first = 0;
  Rows<T> keys{}, values{};

  bool here() const { return keys.data != nullptr; }
};

/// Elements of a cache [blocks, g, block_size, ..], or of its scales, before a row.
inline Index row_offset(const device::ConstTensorView& cache, Index block, Index group, Index row) {
  return block * cache.stride(0) + group * cache.stride(1) + row * cache.stride(2);
}

/// Cuts a step into tiles of at most `queries` queries, and says what those see.
class Tiles {
 public:
  Tiles(const CachedAttention& kernel, Index queries)
      : k_(kernel), queries_(queries), per_group_(kernel.q.size(3)) {}

  Index of(const CachedPiece& piece) const {
    return (piece.rows * per_group_ + queries_ - 1) / queries_ * k_.q.size(2);
  }
  Index count() const {
    Index tiles = 0;
    for (const CachedPiece& piece : k_.pieces) {
      tiles += of(piece);
    }
    return tiles;
  }
  /// Tile i of a piece: groups of heads one behind the other. A row whose groups have one head each
  /// is a tile with as many of the next `most` groups as there are.
  Tile tile(const CachedPiece& piece, Index i, Index most) const {
    if (piece.rows * per_group_ == 1) {
      const Index groups = std::min({queries_, most, k_.q.size(2) - i});
      return {piece, i, groups, 0, groups};
    }
    const Index of_group = of(piece) / k_.q.size(2), first = i % of_group * queries_;
    return {piece, i / of_group, 1, first, std::min(queries_, piece.rows * per_group_ - first)};
  }

  Index position_of(const Tile& tile, Index query) const {
    return tile.piece.first_position + (k_.causal ? place_of(tile, query).row : 0);
  }
  /// Returns the last position that the query sees.
  Index last_visible(const Tile& tile, Index query) const {
    return tile.piece.together ? tile.piece.first_position + tile.piece.rows - 1
                               : position_of(tile, query);
  }
  Index first_visible(Index position) const {
    return k_.window >= 0 ? std::max<Index>(position - k_.window, 0) : 0;
  }
  /// The first query of a tile that sees one of the positions that the last one sees, or the number
  /// of its queries.
  Index first_seeing(const Tile& tile, Index position) const {
    const Index rows = position - tile.piece.first_position;
    const bool all = tile.piece.together || !k_.causal;
    return all ? 0 : std::clamp(rows * per_group_ - tile.first, Index{0}, tile.count);
  }
  Index row_of(const Tile& tile, Index query) const {
    return tile.piece.first_row + place_of(tile, query).row;
  }
  Index head_of(const Tile& tile, Index query) const {
    const Place place = place_of(tile, query);
    return place.group * per_group_ + place.head;
  }
  /// Elements of q before a query.
  Index offset_of(const Tile& tile, Index query) const {
    const Place place = place_of(tile, query);
    return (tile.piece.first_row + place.row) * k_.q.stride(0) + place.group * k_.q.stride(2) +
           place.head * k_.q.stride(3);
  }

 private:
  struct Place {
    Index row, group, head;  // of the piece, of all, of the group
  };
  Place place_of(const Tile& tile, Index query) const {
    return tile.groups > 1 ? Place{0, tile.group + query, 0}
                           : Place{(tile.first + query) / per_group_, tile.group,
                                   (tile.first + query) % per_group_};
  }

  const CachedAttention& k_;
  Index queries_, per_group_;
};

/// Goes through tiles [begin, end), counted in the order of pieces, and in each through the groups
/// of positions that its queries see.
template <class T>
class Walk {
 public:
  Walk(const CachedAttention& kernel, const Tiles& tiles, Index begin, Index end)
      : k_(kernel),
        tiles_(tiles),
        block_size_(kernel.key_cache.size(2)),
        left_(end - begin),
        in_piece_(begin) {
    if (left_ > 0) {
      enter();
    }
  }
  bool ended() const { return left_ <= 0; }
  const Tile& tile() const { return tile_; }
  /// Tiles from this one on.
  Index left() const { return left_; }
  /// Number of the group among those of its sequence.
  Index number() const { return first_ / step(); }

  /// Those of the tile's first group.
  Positions<T> positions() const {
    const Index count = std::min(step(), last_ + 1 - first_);
    const Index block = tile_.piece.blocks[static_cast<std::size_t>(first_ / block_size_)];
    if (block < 0) {
      return {first_};
    }
    const auto rows = [&](const In& cache, const In& scales) {
      const Index row = first_ % block_size_;
      Rows<T> rows{static_cast<const T*>(cache.data) + row_offset(cache, block, tile_.group, row),
                   cache.stride(2), count, cache.size(3)};
      if (scales) {
        rows.scales = scales.as<std::uint8_t>() + row_offset(scales, block, tile_.group, row);
      }
      return rows;
    };
    return {first_, rows(k_.key_cache, k_.key_scales), rows(k_.value_cache, k_.value_scales)};
  }
  void next() {
    first_ += step();
    if (first_ > last_) {
      in_piece_ += tile_.groups;
      left_ -= tile_.groups;
      if (left_ > 0) {
        enter();
      }
    }
  }

 private:
  Index step() const { return std::min(kGroup, block_size_); }
  /// Begins the tile in_piece_ of the piece piece_, or of a later one.
  void enter() {
    while (in_piece_ >= tiles_.of(k_.pieces[piece_])) {
      in_piece_ -= tiles_.of(k_.pieces[piece_++]);
    }
    tile_ = tiles_.tile(k_.pieces[piece_], in_piece_, left_);
    last_ = tiles_.last_visible(tile_, tile_.count - 1);
    first_ = tiles_.first_visible(tiles_.position_of(tile_, 0)) / step() * step();
  }

  const CachedAttention& k_;
  const Tiles& tiles_;
  Index block_size_, left_, in_piece_;
  std::size_t piece_ = 0;
  Tile tile_;
  Index first_ = 0, last_ = 0;
};

}  // namespace mpitron::kernels::host::cached

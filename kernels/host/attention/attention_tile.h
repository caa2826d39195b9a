#pragma once
#include "kernels/host/attention/attention_problem.h"

namespace mpitron::kernels::host::attention {

inline constexpr Index kQueryTile = 240;  // at most; multiples of kRows, of keys of 16, too
inline constexpr Index kKeyTile = 192;
inline constexpr Index kTileRest = 16;

struct TileExtents {
  Index queries, keys;
  Index rest = 0;  // at most so many queries or keys behind the last tile join it

  Index last_query(Index first, Index count) const { return last(first, queries, count); }
  Index last_key(Index first, Index count) const { return last(first, keys, count); }

 private:
  Index last(Index first, Index extent, Index count) const {
    return count - first <= extent + rest ? count : first + extent;
  }
};

/// Returns the extents that tiles have. What a tile adds to a gradient is loaded and stored once
/// for each tile, so tiles are as large as the caches allow; where a window is narrow, one tile
/// holds all queries of its keys.
template <class T>
TileExtents tile_extents(Index window) {
  constexpr Index kHalf = kKeyTile / 2;
  if (window >= 0 && kHalf + window + kRows <= kQueryTile) {
    return {kQueryTile, kKeyTile + window + kRows <= kQueryTile ? kKeyTile : kHalf};
  }
  return {96 * kPack<T>, kKeyTile, kTileRest};
}

/// Describes the part of a tile of queries x keys that anybody sees, on grids of 6 queries and 6
/// keys: what a product reads of P and dS has always been written by the blocks of the same tile.
class Tile {
 public:
  /// All bounds are multiples of kRows, k0 of 16, too.
  Tile(const Visibility& visible, Index q0, Index q_end, Index k0, Index k_end)
      : q0_(q0), k0_(k0), k_end_(k_end), rows_((q_end - q0) / kRows) {
    for (Index i = 0; i < rows_; ++i) {
      const Index row = q0 + i * kRows;
      begin_[i] = std::clamp(round_down(visible.begin(row), kRows), k0, k_end);
      end_[i] = std::clamp(round_up(visible.end(row + kRows - 1), kRows), begin_[i], k_end);
    }
  }

  Index q0() const { return q0_; }
  Index k0() const { return k0_; }
  bool empty() const {
    for (Index i = 0; i < rows_; ++i) {
      if (begin_[i] < end_[i]) {
        return false;
      }
    }
    return true;
  }

  /// Calls f(row, col, N) for blocks of 6 rows x 16 N columns, each within a panel and no wider
  /// than what its rows see of it.
  template <class F>
  [[gnu::always_inline]] void for_blocks(const KeyPanels& panels, F&& f) const {
    for (Index first = k0_; first < k_end_; first = panels.end(first)) {
      for (Index i = 0; i < rows_; ++i) {
        const Index end = std::min(end_[i], panels.end(first));
        if (first < end && begin_[i] < end) {
          const Index col = std::max(first, round_down(begin_[i], 16));
          with_groups((end - col + 15) / 16, [&](auto groups) { f(q0_ + i * kRows, col, groups); });
        }
      }
    }
  }

  /// Calls f(key, first, last): the keys [key, + 6) are seen by queries [first, last). Both ends
  /// grow with the key, as the visible keys do with the query.
  template <class F>
  [[gnu::always_inline]] void for_key_rows(F&& f) const {
    Index first = 0, last = 0;
    for (Index key = begin_[0]; key < end_[rows_ - 1]; key += kRows) {
      while (first < rows_ && end_[first] <= key) {
        ++first;
      }
      while (last < rows_ && begin_[last] <= key) {
        ++last;
      }
      if (first < last) {
        f(key, q0_ + first * kRows, q0_ + last * kRows);
      }
    }
  }

  /// Calls f(row, first, last): the queries [row, + 6) see keys [first, last).
  template <class F>
  [[gnu::always_inline]] void for_query_rows(F&& f) const {
    for (Index i = 0; i < rows_; ++i) {
      if (begin_[i] < end_[i]) {
        f(q0_ + i * kRows, begin_[i], end_[i]);
      }
    }
  }

 private:
  Index q0_, k0_, k_end_, rows_;
  Index begin_[kQueryTile / kRows], end_[kQueryTile / kRows];  // keys that six queries see
};

}  // namespace mpitron::kernels::host::attention

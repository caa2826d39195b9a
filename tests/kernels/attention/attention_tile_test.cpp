#include "kernels/host/attention/attention_tile.h"

#include <gtest/gtest.h>

#include "tests/kernels/visibility_cases.h"

namespace mpitron::kernels::host::attention {
namespace attention_tile_test {

/// How often each element of a tile is met.
class Count {
 public:
  explicit Count(const Tile& tile) : tile_(tile) {}
  void add(Index row, Index rows, Index key, Index keys) {
    for (Index r = row - tile_.q0(); r < row - tile_.q0() + rows; ++r) {
      for (Index k = key - tile_.k0(); k < key - tile_.k0() + keys; ++k) {
        ASSERT_TRUE(0 <= r && r < kQueryTile && 0 <= k && k < kWidest) << r << ", " << k;
        ++count_[r][k];
      }
    }
  }
  int operator()(Index row, Index key) const { return count_[row - tile_.q0()][key - tile_.k0()]; }

 private:
  static constexpr Index kWidest = kKeyTile + kTileRest;
  const Tile& tile_;
  int count_[kQueryTile][kWidest] = {};
};

struct Bounds {
  Index q0, q_end, k0, k_end;
};

/// All tiles of all cases, as large as may be, small ones that begin inside a panel, and those that
/// a rest joins.
template <class F>
void for_tiles(F&& f) {
  for (const Visibility& v : visibility_cases()) {
    SCOPED_TRACE(::testing::Message() << "s " << v.s << " s_kv " << v.s_kv << " causal " << v.causal
                                      << " window " << v.window);
    for (const TileExtents extents :
         {TileExtents{kQueryTile, kKeyTile}, TileExtents{96, 96}, TileExtents{96, 48, kTileRest}}) {
      Bounds at{};
      for (at.q0 = 0; at.q0 < v.s; at.q0 = at.q_end) {
        at.q_end = extents.last_query(at.q0, round_up(v.s, kRows));
        for (at.k0 = 0; at.k0 < v.s_kv; at.k0 = at.k_end) {
          at.k_end = extents.last_key(at.k0, round_up(v.s_kv, kRows));
          f(v, at, Tile(v, at.q0, at.q_end, at.k0, at.k_end));
        }
      }
    }
  }
}

// A product may read only what a block has written, must read all that is seen, and nothing twice.
TEST(AttentionTile, BlocksAndProductsCoverWhatIsSeen) {
  for_tiles([](const Visibility& v, const Bounds& at, const Tile& tile) {
    Count written(tile), by_key(tile), by_query(tile);
    const KeyPanels panels(round_up(v.s_kv, kRows));
    tile.for_blocks(panels, [&](Index row, Index col, auto n) {
      EXPECT_EQ(panels.end(col), panels.end(col + 16 * n - 1));
      written.add(row, kRows, col, 16 * n);
    });
    tile.for_key_rows(
        [&](Index key, Index first, Index last) { by_key.add(first, last - first, key, kRows); });
    tile.for_query_rows(
        [&](Index row, Index first, Index last) { by_query.add(row, kRows, first, last - first); });
    for (Index row = at.q0; row < at.q_end; ++row) {
      for (Index key = at.k0; key < at.k_end; ++key) {
        const bool seen = row < v.s && sees(v, row, key);
        const int blocks = written(row, key), keys = by_key(row, key), queries = by_query(row, key);
        ASSERT_TRUE(blocks <= 1 && keys <= blocks && queries <= blocks) << row << ", " << key;
        ASSERT_TRUE(!seen || (keys == 1 && queries == 1)) << row << ", " << key;
      }
    }
  });
}

TEST(AttentionTile, EmptyTilesAreTheOnesThatNobodySees) {
  Index empty = 0;
  for_tiles([&](const Visibility& v, const Bounds& at, const Tile& tile) {
    Index seen = 0;
    for (Index row = at.q0; row < std::min(at.q_end, v.s); ++row) {
      for (Index key = at.k0; key < at.k_end; ++key) {
        seen += sees(v, row, key) ? 1 : 0;
      }
    }
    EXPECT_FALSE(tile.empty() && seen > 0);
    empty += tile.empty() ? 1 : 0;
  });
  EXPECT_GT(empty, 10);
}

// The reason for tiles at all: causal attention does half of the work.
TEST(AttentionTile, CausalBlocksEndNearTheDiagonal) {
  const Visibility v{96, 192, true, -1};
  const Tile tile(v, 0, 96, 0, 192);
  tile.for_query_rows([&](Index row, Index first, Index last) {
    EXPECT_EQ(first, 0);
    EXPECT_LE(last, row + 96 + 2 * kRows);
  });
  EXPECT_TRUE(Tile({192, 192, true, -1}, 0, 96, 128, 192).empty());
}

// What is hidden in a block was multiplied in vain: at most a vector at either end.
TEST(AttentionTile, BlocksAreNoWiderThanTheWindow) {
  constexpr Index kWindow = 127, kSeen = kWindow + kRows;
  const Visibility v{1024, 1024, true, kWindow};
  Index widest = 0;
  for (Index row = 480; row < 720; row += kRows) {
    Index width = 0;
    for (const Index k0 : {288, 384, 480, 576, 672}) {
      Tile(v, 480, 720, k0, k0 + 96).for_blocks(KeyPanels(1024), [&](Index at, Index, auto n) {
        width += at == row ? 16 * n : 0;
      });
    }
    EXPECT_GE(width, kSeen);
    widest = std::max(widest, width);
  }
  EXPECT_LE(widest, kSeen + 30);
}

template <class T>
void check_extents() {
  for (Index window = -1; window < 300; ++window) {
    const auto [queries, keys, rest] = tile_extents<T>(window);
    EXPECT_TRUE(queries + rest <= kQueryTile && rest <= kTileRest) << window;
    EXPECT_TRUE(queries <= kQueryTile && queries % kRows == 0) << window;
    EXPECT_TRUE(keys <= kKeyTile && keys % 16 == 0 && keys % kRows == 0) << window;
    if (0 <= window && window < 128) {  // all queries of some keys, wherever their six begin
      EXPECT_GE(queries, keys + window + kRows - 1) << window;
    }
  }
}

TEST(AttentionTile, ExtentsHoldNarrowWindows) {
  check_extents<float>();
  check_extents<BFloat16>();
}

}  // namespace attention_tile_test
}  // namespace mpitron::kernels::host::attention

#include "kernels/host/attention/cached_walk.h"

#include <gtest/gtest.h>

namespace mpitron::kernels::host::cached {
namespace cached_walk_test {

constexpr Index kGroups = 3, kSize = 8, kBlockSize = 4, kBlocks = 16;

/// Two sequences: one row at position 9, whose second block is not here, and five rows from
/// position 6 on. Queries and caches are given as their shapes: a walk reads neither.
struct Step {
  explicit Step(Index per_group, Index window = -1) {
    kernel.q = {nullptr, DType::f32, {6, 1, kGroups, per_group, kSize}};
    kernel.key_cache = {cache.data(), DType::f32, {kBlocks, kGroups, kBlockSize, kSize}};
    kernel.value_cache = kernel.key_cache;
    kernel.pieces = pieces;
    kernel.window = window;
  }
  std::vector<float> cache = std::vector<float>(kBlocks * kGroups * kBlockSize * kSize);
  std::vector<Index> one = {7, -1, 2}, five = {4, 9, 1};
  std::vector<CachedPiece> pieces = {{0, 1, 9, one}, {1, 5, 6, five}};
  CachedAttention kernel;
};

struct Visit {
  Index row, group, groups, first, count;  // of the tile
  Index position, keys, block;
  bool operator==(const Visit&) const = default;
};

std::vector<Visit> visits(const Step& step, const Tiles& tiles, Index begin, Index end) {
  std::vector<Visit> all;
  for (Walk<float> walk(step.kernel, tiles, begin, end); !walk.ended(); walk.next()) {
    const Tile& tile = walk.tile();
    const auto at = walk.positions();
    const Index offset = at.here() ? at.keys.data - step.cache.data() : -1;
    all.push_back({tile.piece.first_row, tile.group, tile.groups, tile.first, tile.count, at.first,
                   at.keys.count, at.here() ? offset / (kGroups * kBlockSize * kSize) : -1});
    EXPECT_EQ(walk.number(), at.first / kBlockSize);
  }
  return all;
}

TEST(CachedWalk, TakesTheGroupsOfARowTogetherAndSeveralRowsGroupByGroup) {
  const Step step(1);
  const Tiles tiles(step.kernel, 4);
  ASSERT_EQ(tiles.count(), 3 + 2 * kGroups);  // five rows are two tiles of four queries
  const std::vector<Visit> from_second = visits(step, tiles, 1, 5);
  const std::vector<Visit> want = {
      {0, 1, 2, 0, 2, 0, 4, 7}, {0, 1, 2, 0, 2, 4, 0, -1}, {0, 1, 2, 0, 2, 8, 2, 2},
      {1, 0, 1, 0, 4, 0, 4, 4}, {1, 0, 1, 0, 4, 4, 4, 9},  {1, 0, 1, 0, 4, 8, 2, 1},
      {1, 0, 1, 4, 1, 0, 4, 4}, {1, 0, 1, 4, 1, 4, 4, 9},  {1, 0, 1, 4, 1, 8, 3, 1}};
  EXPECT_EQ(from_second, want);
}

TEST(CachedWalk, EveryCutVisitsTheSamePlaces) {
  for (const Index per_group : {1, 2}) {
    const Step step(per_group, 3);
    const Tiles tiles(step.kernel, 4);
    const Index count = tiles.count();
    const auto places = [&](Index begin, Index end) {
      std::vector<std::array<Index, 3>> all;  // row, head, position
      for (const Visit& visit : visits(step, tiles, begin, end)) {
        for (Index i = 0; i < visit.groups; ++i) {
          all.push_back({visit.row + visit.first, visit.group + i, visit.position});
        }
      }
      std::ranges::sort(all);
      return all;
    };
    const auto whole = places(0, count);
    for (Index cut = 1; cut < count; ++cut) {
      auto parts = places(0, cut);
      std::ranges::copy(places(cut, count), std::back_inserter(parts));
      std::ranges::sort(parts);
      EXPECT_EQ(parts, whole) << cut;
    }
  }
}

TEST(CachedWalk, KnowsRowsAndHeadsOfQueries) {
  const Step one(1), two(2);
  const Tiles of_one(one.kernel, 4), of_two(two.kernel, 4);
  const Tile together = of_one.tile(one.pieces[0], 0, 3);
  EXPECT_EQ(of_one.row_of(together, 2), 0);
  EXPECT_EQ(of_one.head_of(together, 2), 2);
  EXPECT_EQ(of_one.position_of(together, 2), 9);
  EXPECT_EQ(of_one.offset_of(together, 2), 2 * kSize);
  const Tile second = of_two.tile(two.pieces[1], 4, 1);  // the second of the second group
  EXPECT_EQ(second.group, 1);
  EXPECT_EQ(second.first, 4);
  EXPECT_EQ(of_two.row_of(second, 3), 1 + 3);
  EXPECT_EQ(of_two.head_of(second, 3), 3);
  EXPECT_EQ(of_two.first_seeing(second, 9), 2);
  EXPECT_EQ(of_two.first_seeing(second, 99), second.count);
}

}  // namespace cached_walk_test
}  // namespace mpitron::kernels::host::cached

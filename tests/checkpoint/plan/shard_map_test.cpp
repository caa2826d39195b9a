#include "checkpoint/plan/shard_map.h"

#include <tuple>

#include <gtest/gtest.h>

namespace mpitron::checkpoint {
namespace shard_map_test {

using Run = std::tuple<Index, Index, Index>;  // global, local, count
using Runs = std::vector<Run>;

Runs runs(const ShardMap& map, Index begin, Index end) {
  Runs found;
  map.for_each_run(begin, end, [&](Index global, Index local, Index count) {
    found.emplace_back(global, local, count);
  });
  return found;
}

TEST(ShardMap, RowsAreOnePieceAndColumnsOneForEachRow) {
  const ShardMap rows({6, 4}, {.dim = 0, .ranges = {{2, 4}}});
  EXPECT_EQ(runs(rows, 0, rows.numel()), (Runs{{8, 0, 8}}));
  const ShardMap columns({3, 4}, {.dim = 1, .ranges = {{1, 3}}});
  EXPECT_EQ(columns.numel(), 6);
  EXPECT_EQ(runs(columns, 0, 6), (Runs{{1, 0, 2}, {5, 2, 2}, {9, 4, 2}}));
  EXPECT_EQ(runs(columns, 3, 5), (Runs{{6, 3, 1}, {9, 4, 1}}));
  EXPECT_EQ(runs(columns, 2, 2), Runs());
}

TEST(ShardMap, HalvesOfAGatedLayerAreTwoColumns) {
  const ShardMap gated({8, 2}, {.dim = 0, .ranges = {{0, 2}, {4, 6}}});
  EXPECT_EQ(runs(gated, 0, gated.numel()), (Runs{{0, 0, 4}, {8, 4, 4}}));
}

TEST(ShardMap, EqualElementsHaveEqualMaps) {
  const ShardMap whole({4, 3}, {});
  EXPECT_EQ(ShardMap({4, 3}, {.dim = 0, .ranges = {{0, 1}, {1, 4}}}), whole);
  EXPECT_EQ(ShardMap({4, 3}, {.dim = 1, .ranges = {{0, 3}}}), whole);
  EXPECT_NE(ShardMap({4, 3}, {.dim = 1, .ranges = {{0, 2}}}), whole);
}

}  // namespace shard_map_test
}  // namespace mpitron::checkpoint

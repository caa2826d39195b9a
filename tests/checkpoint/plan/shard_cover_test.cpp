#include "checkpoint/plan/shard_cover.h"

#include <gtest/gtest.h>

#include "support/corpus.h"

namespace mpitron::checkpoint {
namespace shard_cover_test {

/// Two rows of four columns, of which each shard has some.
std::string problem(const std::vector<std::vector<ShardMap::Column>>& columns) {
  Holdings holdings;
  std::vector<ShardHolders> shards;
  for (const auto& own : columns) {
    ShardMap map;
    map.rows = 2;
    map.row_width = 4;
    map.columns = own;
    shards.push_back({.map = static_cast<Index>(holdings.maps.size()),
                      .holders = {{.rank = static_cast<Index>(holdings.maps.size())}}});
    holdings.maps.push_back(map);
  }
  return test::message_of([&] { check_shards(holdings, {.name = "w", .shape = {2, 4}}, shards); });
}

TEST(ShardCover, EachColumnIsHeldOnce) {
  EXPECT_EQ(problem({{{0, 2}}, {{2, 4}}}), "");
  EXPECT_EQ(problem({{{0, 1}, {3, 4}}, {{1, 3}}}), "");
}

TEST(ShardCover, GapsAndOverlapsAreTold) {
  EXPECT_NE(problem({}).find("no rank holds any element of tensor w"), std::string::npos);
  EXPECT_NE(problem({{{0, 2}}, {{3, 4}}}).find("no rank holds column 2"), std::string::npos);
  EXPECT_NE(problem({{{0, 3}}, {{2, 4}}}).find("overlap without being equal"), std::string::npos);
}

}  // namespace shard_cover_test
}  // namespace mpitron::checkpoint

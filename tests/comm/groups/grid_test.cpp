#include <gtest/gtest.h>

#include "comm/groups/rank_grid.h"
#include "utils/error.h"

namespace mpitron::comm {
namespace grid_test {

TEST(Grid, EachRankFindsItselfInItsGroupAtItsCoordinate) {
  const RankGrid grid(48, {.tensor = 2, .context = 3, .pipeline = 2, .expert = 4}, kDefaultOrder);
  for (Index rank = 0; rank < grid.world_size(); ++rank) {
    for (const Axis axis : {Axis::tensor, Axis::context, Axis::data, Axis::pipeline}) {
      const auto group = grid.dense().group_of(rank, {axis});
      EXPECT_EQ(group[static_cast<std::size_t>(grid.dense().coordinate(rank, axis))], rank);
    }
  }
}

}  // namespace grid_test

}  // namespace mpitron::comm

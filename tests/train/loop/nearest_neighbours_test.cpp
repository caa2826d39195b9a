#include "train/loop/nearest_neighbours.h"

#include <gtest/gtest.h>

namespace mpitron::train {
namespace neighbour_votes_test {

TEST(NeighbourVotes, TheNearestAreOrderedAndEqualOnesByTheirNumber) {
  const auto found = nearest({{0.5, 4, 1}, {0.9, 7, 2}, {0.5, 2, 3}, {0.1, 0, 0}}, 3);
  ASSERT_EQ(found.size(), 3u);
  EXPECT_EQ(found[0].image, 7);
  EXPECT_EQ(found[1].image, 2);
  EXPECT_EQ(found[2].image, 4);
  EXPECT_EQ(nearest({{0.5, 4, 1}}, 10).size(), 1u);
}

TEST(NeighbourVotes, NearOnesCountMore) {
  const std::vector<Neighbour> neighbours{{0.9, 0, 5}, {0.7, 1, 3}, {0.7, 2, 3}};
  EXPECT_EQ(voted_class(neighbours, 3), 5);  // e^(0.2 / 0.07) is more than 2
  EXPECT_EQ(voted_class({}, 3), -1);
}

TEST(NeighbourVotes, OfEqualVotesTheLowerClassWins) {
  const std::vector<Neighbour> neighbours{{0.5, 0, 5}, {0.5, 1, 3}};
  EXPECT_EQ(voted_class(neighbours, 2), 3);
}

}  // namespace neighbour_votes_test
}  // namespace mpitron::train

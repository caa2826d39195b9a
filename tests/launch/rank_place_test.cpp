#include "launch/rank_place.h"

#include <gtest/gtest.h>

#include "launch/some_places.h"

namespace mpitron::launch {
namespace rank_place_test {

TEST(RankPlace, TravelsAsText) {
  RankPlace place = bound("node1", {2, 3}, 1, 2);
  EXPECT_EQ(read_place(to_text(place)), place);
  place.gpu = "GPU-1234";
  place.cpus = {};
  EXPECT_EQ(read_place(to_text(place)), place);
}

TEST(RankPlace, ThreadsAreTheEnvironmentsOrTheProcessors) {
  EXPECT_EQ(own_place("here", {{"OMP_NUM_THREADS", "3"}}).threads, 3);
  const RankPlace own = own_place("here", {});
  EXPECT_EQ(own.threads, own.cpus.processors);
  EXPECT_EQ(own.node, "here");
}

TEST(RankMap, FoldsNodesThatLookAlike) {
  std::vector<RankPlace> places;
  for (const char* node : {"node1", "node2", "node3"}) {
    places.push_back(bound(node, {0, 1}, 0, 2));
    places.push_back(bound(node, {2, 3}, 1, 2));
  }
  EXPECT_EQ(rank_map(places),
            Lines({"ranks 0-5 on node[1-3], 2 each: cores 0-1 | 2-3, NUMA 0 | 1"}));
  places[2].cpus.cores = {4};
  EXPECT_EQ(rank_map(places), Lines({"ranks 0-1 on node1: cores 0-1 | 2-3, NUMA 0 | 1",
                                     "ranks 2-3 on node2: cores 4 | 2-3, NUMA 0 | 1",
                                     "ranks 4-5 on node3: cores 0-1 | 2-3, NUMA 0 | 1"}));
}

TEST(RankMap, RanksMayGoRoundTheNodes) {
  std::vector<RankPlace> places;
  for (Index rank = 0; rank < 4; ++rank) {
    places.push_back(unbound(rank % 2 == 0 ? "a1" : "a2", 1));
  }
  EXPECT_EQ(rank_map(places), Lines({"ranks 0-3 on a[1-2], 2 each: not bound, cores 0-3, NUMA 0"}));
}

TEST(RankMap, NodesOfOtherSizesStandAlone) {
  const std::vector<RankPlace> places = {unbound("a1", 1), unbound("a1", 1), unbound("a2", 1)};
  EXPECT_EQ(rank_map(places), Lines({"ranks 0-1 on a1: not bound, cores 0-3, NUMA 0",
                                     "rank 2 on a2: not bound, cores 0-3, NUMA 0"}));
}

TEST(RankMap, ShowsGpusWhereThereAreSome) {
  std::vector<RankPlace> places = {bound("a", {0}, 0, 1), bound("a", {1}, 0, 1)};
  places[0].gpu = "GPU-aa";
  places[1].gpu = "GPU-bb";
  EXPECT_EQ(rank_map(places), Lines({"ranks 0-1 on a: cores 0 | 1, NUMA 0, GPU GPU-aa | GPU-bb"}));
}

TEST(Ranges, JoinNeighbours) {
  EXPECT_EQ(ranges({}), "");
  EXPECT_EQ(ranges({5}), "5");
  EXPECT_EQ(ranges({0, 1, 2, 3, 8}), "0-3,8");
  EXPECT_EQ(ranges({1, 3, 5, 6}), "1,3,5-6");
}

}  // namespace rank_place_test

}  // namespace mpitron::launch

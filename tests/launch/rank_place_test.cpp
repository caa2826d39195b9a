#include "launch/rank_place.h"

#include <gtest/gtest.h>

namespace mpitron::launch {

namespace rank_place_test {

using Lines = std::vector<std::string>;

/// A rank bound to some cores of one hardware thread each.
RankPlace bound(const std::string& node, std::vector<Index> cores, Index numa, Index threads) {
  const auto processors = static_cast<Index>(cores.size());
  return {.node = node,
          .cpus = {.cores = std::move(cores), .numa = {numa}, .processors = processors},
          .threads = threads,
          .gpu = ""};
}

RankPlace unbound(const std::string& node, Index threads) {
  return {.node = node,
          .cpus = {.cores = {0, 1, 2, 3}, .numa = {0}, .processors = 8, .whole_machine = true},
          .threads = threads,
          .gpu = ""};
}

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

TEST(BindingWarnings, NothingToSayWhereCoresAreEnough) {
  EXPECT_EQ(binding_warnings({bound("a", {0, 1}, 0, 2), bound("a", {2, 3}, 0, 2)}), Lines());
  EXPECT_EQ(binding_warnings({unbound("a", 8)}), Lines());
  EXPECT_EQ(binding_warnings({unbound("a", 2), unbound("a", 2)}), Lines());
  // The same cores of other nodes are other cores.
  EXPECT_EQ(binding_warnings({bound("a", {0, 1}, 0, 2), bound("b", {0, 1}, 0, 2)}), Lines());
  EXPECT_EQ(binding_warnings({{.node = "a", .cpus = {}, .threads = 4, .gpu = ""}}), Lines());
}

TEST(BindingWarnings, MoreThreadsThanProcessors) {
  const Lines lines = binding_warnings({bound("a", {0}, 0, 4), bound("a", {1}, 0, 4)});
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].find("ranks 0-1: 4 threads on 1 processors: set OMP_NUM_THREADS=1"), 0U);
  EXPECT_NE(lines[0].find("--map-by slot:PE=4"), std::string::npos);
}

TEST(BindingWarnings, RanksThatShareCores) {
  // Ranks 0 and 2 share through rank 1; rank 3 does not.
  const Lines lines = binding_warnings({bound("a", {0, 1}, 0, 1), bound("a", {1, 2}, 0, 2),
                                        bound("a", {2, 3}, 0, 2), bound("a", {4, 5}, 0, 2)});
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(lines[0].find("ranks 0-2: 3 ranks share 4 cores with 5 threads in all: set "
                          "OMP_NUM_THREADS=1"),
            0U)
      << lines[0];
}

TEST(BindingWarnings, MoreRanksThanCores) {
  const Lines lines = binding_warnings({bound("a", {0}, 0, 1), bound("a", {0}, 0, 1)});
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_NE(lines[0].find("start at most 1 ranks"), std::string::npos) << lines[0];
}

TEST(Ranges, JoinNeighbours) {
  EXPECT_EQ(ranges({}), "");
  EXPECT_EQ(ranges({5}), "5");
  EXPECT_EQ(ranges({0, 1, 2, 3, 8}), "0-3,8");
  EXPECT_EQ(ranges({1, 3, 5, 6}), "1,3,5-6");
}

TEST(Ranges, NamesAreFoldedAsSlurmWritesThem) {
  EXPECT_EQ(name_ranges({}), "");
  EXPECT_EQ(name_ranges({"login"}), "login");
  EXPECT_EQ(name_ranges({"node1", "node2", "node3"}), "node[1-3]");
  EXPECT_EQ(name_ranges({"node09", "node10", "node12"}), "node[09-10,12]");
  EXPECT_EQ(name_ranges({"gpu1", "cpu1", "cpu2"}), "gpu1,cpu[1-2]");
  // Other widths are other names.
  EXPECT_EQ(name_ranges({"node9", "node10"}), "node9,node10");
  EXPECT_EQ(name_ranges({"a", "b"}), "a,b");
}

}  // namespace rank_place_test

}  // namespace mpitron::launch

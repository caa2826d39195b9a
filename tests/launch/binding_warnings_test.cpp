#include <gtest/gtest.h>

#include "launch/rank_place.h"
#include "launch/some_places.h"

namespace mpitron::launch {
namespace binding_warnings_test {

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

}  // namespace binding_warnings_test

}  // namespace mpitron::launch

#include "inference/replay/replay_row.h"

#include <limits>

#include <gtest/gtest.h>

namespace mpitron::inference {
namespace replay_row_test {

TEST(ReplayRow, PassesWhereEveryCaseAgreesWithinWhatIsAllowed) {
  ReplayRow row{.of = "llama", .what = "greedy", .allowed = 1e-5};
  EXPECT_FALSE(row.pass());  // no case proves nothing
  row.count(true);
  row.compare(1.0, 1.0 + 5e-6);
  EXPECT_TRUE(row.pass());
  row.compare(1.0, 1.0 + 2e-5);
  EXPECT_FALSE(row.pass());
}

TEST(ReplayRow, OneCaseThatDiffersFails) {
  ReplayRow row{.of = "llama", .what = "batch"};
  row.count(true);
  row.count(false);
  EXPECT_EQ(row.cases, 2);
  EXPECT_EQ(row.agreed, 1);
  EXPECT_FALSE(row.pass());
}

TEST(ReplayRow, NaNIsFarFromEverything) {
  ReplayRow row{.of = "llama", .what = "score", .allowed = 1};
  row.count(true);
  row.compare(std::numeric_limits<double>::quiet_NaN(), 0);
  EXPECT_FALSE(row.pass());
}

}  // namespace replay_row_test
}  // namespace mpitron::inference

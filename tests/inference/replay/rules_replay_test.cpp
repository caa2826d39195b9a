#include <gtest/gtest.h>

#include "inference/replay/replay_row.h"
#include "support/golden_json.h"

namespace mpitron::inference {
namespace rules_replay_test {

TEST(ReplayRow, PassesWhereAllAgreeAndNothingIsMissing) {
  ReplayRow row{.of = "a", .what = "b", .allowed = 0.5};
  EXPECT_FALSE(row.pass());  // nothing was compared
  row.count(true);
  row.compare(1, 1.25);
  EXPECT_TRUE(row.pass());
  row.compare(NAN, 1);
  EXPECT_FALSE(row.pass());
  EXPECT_EQ(row.largest, HUGE_VAL);
}

TEST(RulesReplay, EveryRecordedRuleAgrees) {
  const std::string folder = test::golden_folder() + "/generation";
  for (const ReplayRow& row : replay_rules(folder)) {
    EXPECT_TRUE(row.pass()) << row.of << ": " << row.agreed << " of " << row.cases << ", "
                            << row.largest;
  }
}

TEST(RulesReplay, AnEmptyFolderHasNoRows) {
  EXPECT_TRUE(replay_rules("no such folder").empty());
}

}  // namespace rules_replay_test
}  // namespace mpitron::inference

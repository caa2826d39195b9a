#include "config/values/finding.h"

#include <gtest/gtest.h>

namespace mpitron::config {
namespace finding_test {

TEST(Finding, IsOneLineWithTheNearestFix) {
  const Finding finding{
      "E017", "layers_per_stage", "46 % 4 = 2.", "--num-layers 48", {"--num-layers"}};
  EXPECT_EQ(to_line(finding), "E017 layers_per_stage: 46 % 4 = 2. Nearest: --num-layers 48");
  const Finding without{"E001", "unknown_option", "there is no option --x.", "", {}};
  EXPECT_EQ(to_line(without), "E001 unknown_option: there is no option --x.");
}

TEST(Finding, ListsAllUnderOneHeading) {
  const Finding finding{"E001", "n", "m.", "", {}};
  EXPECT_EQ(to_text({finding}).find("1 problem in"), 0U);
  EXPECT_EQ(to_text({finding, finding}).find("2 problems in"), 0U);
}

}  // namespace finding_test
}  // namespace mpitron::config

#include <gtest/gtest.h>

#include "checkpoint/read/checkpoint_reader.h"
#include "checkpoint/read/reader_fixture.h"
#include "utils/error.h"

namespace mpitron::checkpoint {
namespace load_report_test {

TEST_F(CheckpointReaderTest, ReportsSurviveTheJourneyBetweenRanks) {
  LoadReport report;
  report.differences = {{Kind::unexpected, "a", "fp32 [1]", ""}, {Kind::missing, "b", "", "u8 []"}};
  LoadReport merged;
  merged.merge(report.serialize() + report.serialize());
  ASSERT_EQ(merged.differences.size(), 2u);
  EXPECT_EQ(merged.differences[0], report.differences[1]);
  EXPECT_EQ(merged.differences[1], report.differences[0]);
}

}  // namespace load_report_test

}  // namespace mpitron::checkpoint

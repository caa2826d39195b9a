#include <gtest/gtest.h>

#include "report/status_text.h"

namespace mpitron::report {
namespace duration_test {

TEST(ReadableDuration, HasTwoUnitsAtMost) {
  EXPECT_EQ(readable_duration(0), "0 s");
  EXPECT_EQ(readable_duration(59.4), "59 s");
  EXPECT_EQ(readable_duration(59.6), "1 min 00 s");
  EXPECT_EQ(readable_duration(3599), "59 min 59 s");
  EXPECT_EQ(readable_duration(7500), "2 h 05 min");
  EXPECT_EQ(readable_duration(4 * 86400 + 3 * 3600 + 1), "4 d 03 h");
}

}  // namespace duration_test
}  // namespace mpitron::report

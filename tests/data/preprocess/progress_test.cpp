#include "data/preprocess/progress.h"

#include <gtest/gtest.h>

namespace mpitron::data {
namespace progress_test {

TEST(Progress, FormatsRatesAndTimeLeft) {
  EXPECT_EQ(format_progress(500, 10'000'000, 40'000'000, 2.0),
            "500 documents, 10.0 MB of 40.0 (25 %), 250 docs/s, 5.0 MB/s, ETA 0:06");
  EXPECT_EQ(format_progress(500, 10'000'000, 0, 2.0),
            "500 documents, 10.0 MB, 250 docs/s, 5.0 MB/s");
}

TEST(Progress, FormatsDurations) {
  EXPECT_EQ(format_duration(7.4), "0:07");
  EXPECT_EQ(format_duration(187), "3:07");
  EXPECT_EQ(format_duration(3729), "1:02:09");
}

}  // namespace progress_test
}  // namespace mpitron::data

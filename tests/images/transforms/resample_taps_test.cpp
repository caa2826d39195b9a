#include "images/transforms/resample_taps.h"

#include <numeric>

#include <gtest/gtest.h>

namespace mpitron::images {
namespace resample_taps_test {

TEST(ResampleTaps, WeightsOfAnOutputAddUpToOne) {
  for (const Filter filter : {Filter::bilinear, Filter::bicubic}) {
    for (const auto& [from, to] : {std::pair<Index, Index>{7, 3}, {3, 7}, {16, 16}, {100, 1}}) {
      const ResampleTaps taps = make_taps(from, to, filter);
      for (Index i = 0; i < to; ++i) {
        const Index sum = std::accumulate(taps.of(i), taps.of(i) + taps.count, Index{0});
        EXPECT_NEAR(static_cast<double>(sum) / (1 << kTapBits), 1, 1e-5);
        EXPECT_GE(taps.begin(i), 0);
        EXPECT_LE(taps.begin(i) + taps.count, from);
      }
    }
  }
}

TEST(ResampleTaps, FiltersAreOneInTheMiddleAndEndWhereTheyShould) {
  EXPECT_EQ(tap_weight(Filter::bilinear, 0), 1);
  EXPECT_EQ(tap_weight(Filter::bilinear, -1), 0);
  EXPECT_EQ(tap_weight(Filter::bicubic, 0), 1);
  EXPECT_LT(tap_weight(Filter::bicubic, 1.5), 0);
  EXPECT_EQ(tap_weight(Filter::bicubic, 2), 0);
}

}  // namespace resample_taps_test
}  // namespace mpitron::images

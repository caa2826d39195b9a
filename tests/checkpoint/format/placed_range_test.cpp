#include "checkpoint/format/placed_range.h"

#include <gtest/gtest.h>

#include "utils/error.h"

namespace mpitron::checkpoint {
namespace placed_range_test {

TEST(PlacedRange, TellsThePlaceOfEachByte) {
  const std::vector<PlacedRange> ranges = {{.data_set = 1, .begin = 10, .end = 20, .offset = 4096},
                                           {.data_set = 1, .begin = 40, .end = 50, .offset = 4106},
                                           {.data_set = 3, .begin = 0, .end = 5, .offset = 8192}};
  EXPECT_EQ(place_of(ranges, 1, 10), 4096);
  EXPECT_EQ(place_of(ranges, 1, 19), 4105);
  EXPECT_EQ(place_of(ranges, 1, 41), 4107);
  EXPECT_EQ(place_of(ranges, 3, 4), 8196);
  for (const auto& [data_set, byte] :
       {std::pair<Index, Index>{0, 0}, {1, 9}, {1, 20}, {1, 50}, {2, 0}, {3, 5}, {4, 0}}) {
    EXPECT_THROW(place_of(ranges, data_set, byte), InternalError) << data_set << ' ' << byte;
  }
}

}  // namespace placed_range_test
}  // namespace mpitron::checkpoint

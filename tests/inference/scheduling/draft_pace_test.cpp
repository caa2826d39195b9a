#include "inference/scheduling/draft_pace.h"

#include <gtest/gtest.h>

namespace mpitron::inference {
namespace draft_pace_test {

TEST(DraftPace, DraftsMoreAfterHits) {
  DraftPace pace;
  EXPECT_EQ(pace.allowed(8), 2);
  pace.learn(2, 2);
  EXPECT_EQ(pace.allowed(8), 4);
  pace.learn(4, 4);
  EXPECT_EQ(pace.allowed(8), 8);
  EXPECT_EQ(pace.allowed(5), 5);
  pace.learn(8, 3);
  EXPECT_EQ(pace.allowed(8), 4);
}

TEST(DraftPace, WaitsLongerAfterEachMiss) {
  DraftPace pace;
  for (const Index wait : {1, 2, 4, 8, 16, 32, 64, 64}) {
    pace.learn(2, 0);
    for (Index i = 0; i < wait; ++i) {
      EXPECT_EQ(pace.allowed(8), 0);
    }
    EXPECT_EQ(pace.allowed(8), 2);
  }
  pace.learn(2, 1);
  pace.learn(2, 0);
  EXPECT_EQ(pace.allowed(8), 0);
  EXPECT_EQ(pace.allowed(8), 2);
}

}  // namespace draft_pace_test
}  // namespace mpitron::inference

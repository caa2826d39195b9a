#include "inference/scheduling/steps_under_way.h"

#include <gtest/gtest.h>

#include "utils/check.h"

namespace mpitron::inference {
namespace steps_under_way_test {

TEST(StepsUnderWay, EndInTheOrderInWhichTheyBegan) {
  Sequence first, second;
  StepsUnderWay steps(2);
  steps.start().push_back({.sequence = &first});
  steps.begin();
  steps.start().push_back({.sequence = &second});
  steps.begin();
  EXPECT_EQ(steps.count(), 2);
  EXPECT_EQ(steps.oldest()[0].sequence, &first);
  steps.end_oldest();
  EXPECT_EQ(steps.oldest()[0].sequence, &second);
  EXPECT_TRUE(steps.start().empty());
}

TEST(StepsUnderWay, AForgottenSequenceLeavesItsPartsInPlace) {
  Sequence first, second;
  StepsUnderWay steps(1);
  steps.start() = {{.sequence = &first}, {.sequence = &second}};
  steps.begin();
  steps.forget(first);
  ASSERT_EQ(steps.oldest().size(), 2u);
  EXPECT_EQ(steps.oldest()[0].sequence, nullptr);
  EXPECT_EQ(steps.oldest()[1].sequence, &second);
}

TEST(StepsUnderWay, AreAtMostAsManyAsTheDepth) {
  StepsUnderWay steps(1);
  EXPECT_THROW(steps.oldest(), InternalError);
  steps.start();
  steps.begin();
  EXPECT_THROW(steps.start(), InternalError);
}

}  // namespace steps_under_way_test
}  // namespace mpitron::inference

#include "inference/server/byte_budget.h"

#include <gtest/gtest.h>

namespace mpitron::inference {
namespace byte_budget_test {

TEST(ByteBudget, GivesWhatIsLeft) {
  ByteBudget budget(10);
  EXPECT_TRUE(budget.take(7));
  EXPECT_FALSE(budget.take(4));
  EXPECT_TRUE(budget.take(3));
  budget.give_back(4);
  EXPECT_EQ(budget.left(), 4u);
}

TEST(ByteCharge, CountsBeyondTheFirstBytesAndGivesThemBack) {
  constexpr std::size_t kFree = ByteCharge::kFree;
  ByteBudget budget(10);
  {
    ByteCharge first(budget), second(budget);
    EXPECT_TRUE(first.hold(kFree));
    EXPECT_EQ(budget.left(), 10u);
    EXPECT_TRUE(first.hold(kFree + 8));
    EXPECT_FALSE(second.hold(kFree + 3));
    EXPECT_EQ(budget.left(), 2u);
    EXPECT_TRUE(first.hold(kFree + 1));
    EXPECT_TRUE(second.hold(kFree + 3));
    ByteCharge third = std::move(second);
    EXPECT_EQ(budget.left(), 6u);
    third = {};
    EXPECT_EQ(budget.left(), 9u);
  }
  EXPECT_EQ(budget.left(), 10u);
}

TEST(BytePace, LetsABurstPassAndThenSoManyBytesASecond) {
  using std::chrono::milliseconds;
  BytePace pace(1000);  // 50 bytes at once
  const BytePace::Clock::time_point start{std::chrono::hours(1)};
  EXPECT_LE(pace.after(30, start), start);
  EXPECT_LE(pace.after(20, start), start);
  EXPECT_EQ(pace.after(100, start), start + milliseconds(100));
  EXPECT_EQ(pace.after(100, start + milliseconds(100)), start + milliseconds(200));
  EXPECT_LE(pace.after(50, start + milliseconds(900)), start + milliseconds(900));
}

}  // namespace byte_budget_test
}  // namespace mpitron::inference

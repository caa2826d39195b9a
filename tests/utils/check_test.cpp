#include "utils/check.h"

#include <gtest/gtest.h>

namespace mpitron {
namespace check_test {

TEST(Check, SilentWhereTheConditionHolds) {
  int evaluated = 0;
  MPITRON_CHECK(++evaluated == 1, evaluated);
  EXPECT_EQ(evaluated, 1);
}

TEST(Check, NamesConditionPlaceAndValues) {
  const int rows = 3;
  try {
    MPITRON_CHECK(rows == 4, rows, "columns", 1.5);
    FAIL() << "nothing thrown";
  } catch (const InternalError& error) {
    const std::string text = error.what();
    EXPECT_NE(text.find("check_test.cpp:"), std::string::npos) << text;
    EXPECT_NE(text.find("invariant broken: rows == 4 with 3 columns 1.5"), std::string::npos)
        << text;
  }
}

TEST(Check, IsOneStatement) {
  bool reached_else = false;
  if (const bool condition = false; condition)
    MPITRON_CHECK(false);
  else
    reached_else = true;
  EXPECT_TRUE(reached_else);
}

TEST(Check, TheDebugCheckIsOnInDebugBuildsOnly) {
  int evaluated = 0;
#ifdef NDEBUG
  MPITRON_DCHECK(++evaluated > 1, evaluated);
  EXPECT_EQ(evaluated, 0);
#else
  EXPECT_THROW(MPITRON_DCHECK(++evaluated > 1, evaluated), InternalError);
#endif
}

}  // namespace check_test
}  // namespace mpitron

#include "launch/environment.h"

#include <cstdlib>

#include <gtest/gtest.h>

namespace mpitron::launch {
namespace environment_test {

TEST(Environment, HoldsThisProcessVariables) {
  ::setenv("MPITRON_TEST_VARIABLE", "a=b", 1);
  EXPECT_EQ(text_of(process_environment(), "MPITRON_TEST_VARIABLE"), "a=b");
  ::unsetenv("MPITRON_TEST_VARIABLE");
  EXPECT_EQ(text_of(process_environment(), "MPITRON_TEST_VARIABLE"), std::nullopt);
}

TEST(Environment, ReadsLeadingNumbers) {
  const Environment made = {{"PLAIN", "8"}, {"NODES", "4(x2)"}, {"WORD", "many"}, {"EMPTY", ""}};
  EXPECT_EQ(number_of(made, "PLAIN"), 8);
  EXPECT_EQ(number_of(made, "NODES"), 4);
  EXPECT_EQ(number_of(made, "WORD"), std::nullopt);
  EXPECT_EQ(number_of(made, "EMPTY"), std::nullopt);
  EXPECT_EQ(number_of(made, "ABSENT"), std::nullopt);
}

}  // namespace environment_test
}  // namespace mpitron::launch

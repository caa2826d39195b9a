#include "checkpoint/folders/folder_names.h"

#include <gtest/gtest.h>

namespace mpitron::checkpoint {
namespace folder_names_test {

TEST(FolderNames, IterationsAreThoseOfFinalNames) {
  for (const Index iteration : {Index{0}, Index{123}, Index{12345678}, kReleaseIteration}) {
    EXPECT_EQ(iteration_of(name_of_iteration(iteration)), iteration);
  }
  for (const char* name : {"iter_5", "iter_x", "iter_0000007.tmp", "iter_-000008", "logs", ""}) {
    EXPECT_EQ(iteration_of(name), std::nullopt) << name;
  }
}

TEST(FolderNames, NumbersAreWhole) {
  EXPECT_EQ(natural_number("42"), 42);
  for (const char* text : {"", "-5", "5 6", "99999999999999999999"}) {
    EXPECT_EQ(natural_number(text), std::nullopt) << text;
  }
}

}  // namespace folder_names_test
}  // namespace mpitron::checkpoint

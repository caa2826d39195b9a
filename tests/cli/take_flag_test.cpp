#include <gtest/gtest.h>

#include "cli/command.h"

namespace mpitron::cli {
namespace take_flag_test {

TEST(TakeFlag, RemovesEveryOccurrenceAndKeepsTheOrder) {
  Arguments words = {"a", "--json", "b", "--json", "--json-keys"};
  EXPECT_TRUE(take_flag(words, "--json"));
  EXPECT_EQ(words, (Arguments{"a", "b", "--json-keys"}));
  EXPECT_FALSE(take_flag(words, "--json"));
  EXPECT_EQ(words.size(), 3U);
}

}  // namespace take_flag_test
}  // namespace mpitron::cli

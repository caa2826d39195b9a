#include <gtest/gtest.h>

#include "cli/command.h"

namespace mpitron::cli {
namespace {

TEST(TakeFlag, RemovesEveryOccurrenceAndKeepsTheOrder) {
  Arguments words = {"a", "--json", "b", "--json", "--json-keys"};
  EXPECT_TRUE(take_flag(words, "--json"));
  EXPECT_EQ(words, (Arguments{"a", "b", "--json-keys"}));
  EXPECT_FALSE(take_flag(words, "--json"));
  EXPECT_EQ(words.size(), 3U);
}

}  // namespace
}  // namespace mpitron::cli

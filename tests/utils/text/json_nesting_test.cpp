#include "utils/text/json_nesting.h"

#include <string>

#include <gtest/gtest.h>

namespace mpitron {
namespace json_nesting_test {

std::string nested(std::size_t depth) {
  return std::string(depth, '[') + std::string(depth, ']');
}

TEST(JsonNesting, CountsOpenListsAndObjects) {
  EXPECT_FALSE(nests_too_deep(""));
  EXPECT_FALSE(nests_too_deep(nested(512)));
  EXPECT_TRUE(nests_too_deep(nested(513)));
  std::string objects;
  for (int i = 0; i < 600; ++i) {
    objects += "{\"a\":";
  }
  EXPECT_TRUE(nests_too_deep(objects));
  std::string beside;
  for (int i = 0; i < 600; ++i) {
    beside += "[{}],";
  }
  EXPECT_FALSE(nests_too_deep("[" + beside + "0]"));
}

TEST(JsonNesting, CountsMembersOfAllObjects) {
  const std::string_view three = R"({"a":1,"b":[{"c":":"}]})";
  EXPECT_FALSE(has_many_members(three, 3));
  EXPECT_TRUE(has_many_members(three, 2));
}

TEST(JsonNesting, BracketsInTextsAreText) {
  const std::string brackets(600, '[');
  EXPECT_FALSE(nests_too_deep("{\"a\":\"" + brackets + "\"}"));
  EXPECT_FALSE(nests_too_deep("{\"a\":\"x\\\"" + brackets + "\"}"));
  EXPECT_TRUE(nests_too_deep("{\"a\":\"x\\\\\",\"b\":" + brackets));
  EXPECT_FALSE(nests_too_deep("\"\\"));
}

}  // namespace json_nesting_test
}  // namespace mpitron

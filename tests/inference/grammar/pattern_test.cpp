#include "inference/grammar/pattern.h"

#include <gtest/gtest.h>

#include "inference/grammar/grammar_walk.h"

namespace mpitron::inference {
namespace pattern_test {

TEST(Pattern, ChoosesRepeatsAndRefersToRules) {
  test::Language ab({{Pattern::repeat(
      Pattern::choice({Pattern::text("a"), Pattern::of(ByteSet('x', 'z'))}), 1, 2)}});
  for (const char* text : {"a", "az", "yy"}) {
    EXPECT_TRUE(ab.has(text)) << text;
  }
  for (const char* text : {"", "w", "aaa"}) {
    EXPECT_FALSE(ab.has(text)) << text;
  }
  test::Language nested({{Pattern::sequence(
      {Pattern::text("("), Pattern::optional(Pattern::rule(0)), Pattern::text(")")})}});
  EXPECT_TRUE(nested.has("((()))"));
  EXPECT_FALSE(nested.has("(()"));
  EXPECT_FALSE(nested.has("()()"));
}

}  // namespace pattern_test
}  // namespace mpitron::inference

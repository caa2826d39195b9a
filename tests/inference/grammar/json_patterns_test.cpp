#include "inference/grammar/json_patterns.h"

#include <cmath>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "inference/grammar/grammar_walk.h"

namespace mpitron::inference {
namespace json_patterns_test {

using test::Language;

TEST(JsonPatterns, StringsAreJson) {
  Language strings({{json_string(Pattern::repeat(json_character(), 0, Pattern::kEndless))}});
  for (const char* text : {R"("")", R"("a\"\\\/\b\f\n\r\t\u00e4\ud83d\ude00")", "\"\u00e4\""}) {
    EXPECT_TRUE(strings.has(text)) << text;
  }
  for (const char* text : {R"(")", R"("\x")", R"("\ud83d")", R"("\ude00")", "\"\n\"", "\"\xff\""}) {
    EXPECT_FALSE(strings.has(text)) << text;
  }
  Language others({{json_string_except({"ab", "a", "\"q"})}});
  for (const char* text : {R"("")", R"("abc")", R"("b")", R"("ac")", R"("\"")"}) {
    EXPECT_TRUE(others.has(text)) << text;
  }
  for (const char* text : {R"("ab")", R"("a")", R"("\"q")"}) {
    EXPECT_FALSE(others.has(text)) << text;
  }
}

TEST(JsonPatterns, DrawnValuesAreJson) {
  Language values({{json_value(0)}});
  std::mt19937_64 random(4);
  int whole = 0;
  for (int i = 0; i < 500; ++i) {
    if (const auto text = values.draw(random, 20, 2000)) {
      EXPECT_TRUE(nlohmann::json::accept(*text)) << *text;
      ++whole;
    }
  }
  EXPECT_GT(whole, 200);
  EXPECT_TRUE(values.has(R"({"a": [1, -2.5e+3, {"b": null}], "c": true})"));
  EXPECT_TRUE(values.has("[\n  1,\n  2\n]"));
  EXPECT_FALSE(values.has("[1,]"));
  EXPECT_FALSE(values.has("[1,  2]"));  // at most one blank
}

}  // namespace json_patterns_test

}  // namespace mpitron::inference

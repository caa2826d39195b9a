#include <fmt/format.h>
#include <gtest/gtest.h>

#include "inference/grammar/grammar_walk.h"
#include "inference/grammar/json_patterns.h"

namespace mpitron::inference {
namespace json_number_patterns_test {

using test::Language;

TEST(JsonNumberPatterns, IntegersBetweenBounds) {
  for (const auto& [least, most] : {std::pair<std::int64_t, std::int64_t>{0, 0},
                                    {3, 7},
                                    {9, 10},
                                    {95, 1024},
                                    {-5, 5},
                                    {-120, -13},
                                    {0, 999},
                                    {100, 100},
                                    {-1, 0}}) {
    Language language({{json_integer_range(least, most)}});
    for (std::int64_t i = -1500; i <= 1500; ++i) {
      ASSERT_EQ(language.has(std::to_string(i)), i >= least && i <= most) << i;
    }
    EXPECT_FALSE(language.has("-0"));
    EXPECT_FALSE(language.has("007"));
  }
  Language above({{json_integer_range(42, std::nullopt)}});
  Language below({{json_integer_range(std::nullopt, -7)}});
  for (std::int64_t i = -1500; i <= 1500; ++i) {
    ASSERT_EQ(above.has(std::to_string(i)), i >= 42) << i;
    ASSERT_EQ(below.has(std::to_string(i)), i <= -7) << i;
  }
  EXPECT_TRUE(Language({{json_integer_range(INT64_MIN, INT64_MAX)}}).has("-9223372036854775808"));
}

TEST(JsonNumberPatterns, NumbersBetweenBounds) {
  struct Row {
    std::optional<NumberBound> least, most;
  };
  std::mt19937_64 random(3);
  for (const Row& row : {Row{NumberBound{0}, NumberBound{1}},
                         {NumberBound{0, true}, NumberBound{1, true}},
                         {NumberBound{-3}, NumberBound{2, true}},
                         {NumberBound{-20, true}, NumberBound{-10}},
                         {NumberBound{5, true}, std::nullopt},
                         {std::nullopt, NumberBound{-1}},
                         {NumberBound{7}, NumberBound{7}}}) {
    Language language({{json_number_range(row.least, row.most)}});
    const auto inside = [&](double value) {
      const bool above = !row.least || value > static_cast<double>(row.least->value) ||
                         (!row.least->open && value == static_cast<double>(row.least->value));
      return above && (!row.most || value < static_cast<double>(row.most->value) ||
                       (!row.most->open && value == static_cast<double>(row.most->value)));
    };
    for (int i = -300; i <= 300; ++i) {
      const double value = i / 10.0;
      const std::string text = i % 10 == 0 ? std::to_string(i / 10) : fmt::format("{:.1f}", value);
      if (i != 0) {
        ASSERT_EQ(language.has(text), inside(value)) << text;
      }
    }
    for (int i = 0; i < 200; ++i) {
      const auto text = language.draw(random, 6, 60);
      ASSERT_TRUE(text);
      EXPECT_TRUE(inside(std::stod(*text))) << *text;
    }
  }
}

}  // namespace json_number_patterns_test

}  // namespace mpitron::inference

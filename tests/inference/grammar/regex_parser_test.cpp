#include "inference/grammar/regex_parser.h"

#include <gtest/gtest.h>

#include "inference/grammar/grammar_walk.h"
#include "support/fuzz.h"
#include "utils/error.h"
#include "utils/text/utf8.h"

namespace mpitron::inference {
namespace regex_parser_test {

using test::Language;

struct Row {
  const char* regex;
  std::vector<std::string> inside, outside;
};

TEST(RegexParser, UnderstandsWhatRegularExpressionsSay) {
  const Row rows[] = {
      {"abc", {"abc"}, {"", "ab", "abcd"}},
      {"a|bc|", {"a", "bc", ""}, {"b", "abc"}},
      {"(ab)+c?", {"ab", "ababc"}, {"", "c", "abcc"}},
      {"(?:x|y){2,3}", {"xy", "yyy"}, {"x", "xxxx"}},
      {"x{2}", {"xx"}, {"x", "xxx"}},
      {"x{2,}y{,1}", {"xx", "xxxy"}, {"x", "xxyy"}},
      {"[a-c_-]*?", {"", "ab_-c"}, {"d", "a b"}},
      {"[^a-z]", {"A", "\u00e4", "\U0001F600"}, {"b", ""}},
      {"[]a]", {"]", "a"}, {"b"}},
      {"\\d+\\.\\d{2}", {"12.34"}, {"1.2", ".12"}},
      {"\\w\\W\\s\\S", {"a- b"}, {"--- ", "a  b "}},
      {"[\\d\\s]+", {"1 2"}, {"a"}},
      {".", {"a", "\u4E16"}, {"\n", "", "ab"}},
      {"^a$|^b", {"a", "b"}, {"ab", "c"}},
      {"\\x41\\u00e4\\u{1F600}\\n\\.", {"A\u00e4\U0001F600\n."}, {"A"}},
      {"(?P<year>\\d{4})-(?<m>\\d\\d)", {"2024-12"}, {"24-12"}},
      {"\u00e4+[\u00e4-\u00fc]", {"\u00e4\u00f6"}, {"\u00e4", "\xc3"}},
  };
  for (const Row& row : rows) {
    Language language = Language::regex(row.regex);
    for (const std::string& text : row.inside) {
      EXPECT_TRUE(language.has(text)) << row.regex << " " << text;
    }
    for (const std::string& text : row.outside) {
      EXPECT_FALSE(language.has(text)) << row.regex << " " << text;
    }
  }
}

TEST(RegexParser, SearchesWhatIsNotAnchored) {
  const auto utf8 = [](const CodePoints& set) { return set.utf8(); };
  Language language({{regex_search_pattern("^ab|cd$|e", utf8)}});
  for (const char* text : {"abx", "xcd", "xey", "e", "ab"}) {
    EXPECT_TRUE(language.has(text)) << text;
  }
  for (const char* text : {"xab", "cdx", "x"}) {
    EXPECT_FALSE(language.has(text)) << text;
  }
}

TEST(RegexParser, NamesWhatItDoesNotKnow) {
  for (const char* regex :
       {"(",      ")",       "a)",    "[a",       "a{2",    "a{3,2}",      "a{99999}",
        "*a",     "a**+*",   "\\",    "\\b",      "\\1",    "\\p{L}",      "(?=a)",
        "(?<!a)", "(?i)a",   "a^b",   "a$b",      "[b-a]",  "[[:alpha:]]", "[^\\s\\S]",
        "\\x4",   "\\u{zz}", "(?P<a", "(?<a(>b)", "(?<>a)", "(?P<1>a)",    "\xff"}) {
    try {
      regex_pattern(regex);
      ADD_FAILURE() << regex;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ExitCode::data) << error.what();
      EXPECT_NE(std::string(error.what()).find("regular expression"), std::string::npos);
    }
  }
}

/// Damaged expressions are refused or followed; texts drawn from those that are followed are UTF-8.
TEST(FuzzExpressions, AreFollowedOrRefused) {
  const std::vector<std::string> expressions = {"(?P<year>\\d{4})-(?<m>\\d\\d)|[^a-z]{2,}?",
                                                "^(?:x|y\\.){2,3}[]a-c_-]*$|\\u{1F600}\\x41\\W",
                                                "\u00e4+[\u00e4-\u00fc\\s]|(a|b(c|d)*){,4}.\\n"};
  std::mt19937_64 random(7);
  test::fuzz(expressions, test::FuzzLength::of_ci(1000), [&](const std::string& expression) {
    Language language = Language::regex(expression);
    if (const auto text = language.draw(random, 10, 300)) {
      EXPECT_EQ(replace_invalid_utf8(*text), *text) << expression;
    }
  });
}

}  // namespace regex_parser_test
}  // namespace mpitron::inference

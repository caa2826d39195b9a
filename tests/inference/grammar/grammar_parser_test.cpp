#include "inference/grammar/grammar_parser.h"

#include <gtest/gtest.h>

#include "inference/grammar/grammar_walk.h"
#include "support/fuzz.h"
#include "utils/error.h"
#include "utils/text/utf8.h"

namespace mpitron::inference {
namespace grammar_parser_test {

using test::Language;

struct GrammarRow {
  const char* grammar;
  std::vector<std::string> inside, outside;
};

TEST(GrammarParser, ReadsRules) {
  const GrammarRow rows[] = {
      {R"(root ::= "yes" | "no")", {"yes", "no"}, {"", "yesno", "maybe"}},
      {"# sums\nroot ::= term (\"+\" term)*  # and so on\nterm ::= [0-9]+ | \"(\" root \")\"\n",
       {"1", "1+22", "(1+2)+3", "((7))"},
       {"+", "1+", "(1", "1)"}},
      {"root ::= a{2} b{1,2} c{0,} d?\na::=\"a\"\nb::=\"b\" c ::= \"c\"\nd\n::=\n\"d\"",
       {"aab", "aabb", "aabbccd"},
       {"ab", "aabbb", "aabdd"}},
      {"root ::=\n  \"x\" rest\nrest ::=\n  | \",\" root\n", {"x", "x,x,x"}, {"", "x,", "xx"}},
      {R"(root ::= [^"\\\n] "\"" "\t\x41\u00e9" "a.b*" .)",
       {"z\"\tA\xc3\xa9"
        "a.b*\xe2\x82\xac"},
       {"\"\"\tA\xc3\xa9"
        "a.b*!",
        "z\"\tA\xc3\xa9"
        "aXbb!"}}};
  for (const GrammarRow& row : rows) {
    Language language(parsed_grammar(row.grammar));
    for (const std::string& text : row.inside) {
      EXPECT_TRUE(language.has(text)) << row.grammar << " : " << text;
    }
    for (const std::string& text : row.outside) {
      EXPECT_FALSE(language.has(text)) << row.grammar << " : " << text;
    }
  }
}

TEST(GrammarParser, SaysWhatIsWrongAndWhere) {
  const auto told = [](const std::string& grammar) -> std::string {
    try {
      const ByteNetwork network(parsed_grammar(grammar));
    } catch (const Error& error) {
      return error.what();
    }
    return "taken";
  };
  EXPECT_EQ(told("root ::= a"), "the grammar has no rule a");
  EXPECT_EQ(told("a ::= \"a\""), "the grammar has no rule root");
  EXPECT_EQ(told("root ::= \"a\"\nroot ::= \"b\""),
            "the grammar has in line 2: the rule root a second time");
  EXPECT_EQ(told("root ::= (\n\"a\""), "the grammar has in line 2: a ( without a )");
  for (const char* wrong :
       {"", "root", "root = \"a\"", "root ::= )", "root ::= \"a", "root ::= [a", "root ::= *",
        "root ::= \"a\"{2,1}", "root ::= \"a\"{x}", "root ::= \"\\", "root ::= \"\\q\"",
        "root ::= root \"a\"", "root ::= \xff"}) {
    EXPECT_NE(told(wrong), "taken") << wrong;
  }
  EXPECT_NE(told("root ::= " + std::string(100'000, '(')), "taken");
}

/// Damaged grammars are refused or followed; texts drawn from those that are followed are UTF-8.
TEST(FuzzGrammars, AreFollowedOrRefused) {
  const std::vector<std::string> grammars = {
      "# sums\nroot ::= term (\"+\" term){0,3}\nterm ::= [0-9]+ | \"(\" root \")\"\n",
      "root ::= item+ \"\\t\\x41\\u00e9\"\nitem ::= [^\"\\\\\\n] | . pair?\npair::=\"a\"{2,}"};
  std::mt19937_64 random(7);
  test::fuzz(grammars, test::FuzzLength::of_ci(250), [&](const std::string& grammar) {
    Language language(parsed_grammar(grammar));
    if (const auto text = language.draw(random, 10, 60)) {
      EXPECT_EQ(replace_invalid_utf8(*text), *text) << grammar;
    }
  });
}

}  // namespace grammar_parser_test
}  // namespace mpitron::inference

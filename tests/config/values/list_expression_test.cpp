#include "config/values/list_expression.h"

#include <fstream>
#include <random>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "config/flags.h"
#include "support/golden_folder.h"
#include "utils/error.h"

namespace mpitron::config {
namespace list_expression_test {

using Json = nlohmann::json;

TEST(ListExpression, ReadsNumbersListsSumsAndProducts) {
  EXPECT_EQ(parse_list_expression("12").number, 12);
  EXPECT_FALSE(parse_list_expression("2*3+1").is_list);
  EXPECT_EQ(parse_list_expression("2*3+1").number, 7);
  EXPECT_EQ(parse_list_expression("[1]*3+[0]").entries, (std::vector<Index>{1, 1, 1, 0}));
  EXPECT_EQ(parse_list_expression("([1]*2+[0]*1)*2").entries,
            (std::vector<Index>{1, 1, 0, 1, 1, 0}));
  EXPECT_EQ(parse_list_expression("2*[1,0,]").entries, (std::vector<Index>{1, 0, 1, 0}));
  EXPECT_TRUE(parse_list_expression("[]").entries.empty());
  EXPECT_EQ(parse_list_expression("[1+1,2*2]").entries, (std::vector<Index>{2, 4}));
}

TEST(ListExpression, RefusesEverythingElse) {
  for (const char* text : {"", " 1", "[1", "[1]]", "(1", "1+", "*2", "[1]*[2]", "[1]+1", "[[1]]",
                           "-1", "1.5", "[1 ,2]", "a", "[1]*100001", "1000000*1000000",
                           "99999999999999999999", "[,]", "import os"}) {
    EXPECT_THROW(parse_list_expression(text), Error) << text;
  }
  EXPECT_THROW(parse_list_expression(std::string(1000, '(')), Error);
}

TEST(ListExpression, NamesTheColumn) {
  try {
    parse_list_expression("[1]*3-[0]");
    FAIL();
  } catch (const Error& error) {
    EXPECT_NE(std::string(error.what()).find("column 6"), std::string::npos) << error.what();
    EXPECT_EQ(error.code(), ExitCode::usage);
  }
}

TEST(ListExpression, EqualsTheReference) {
  std::ifstream in(test::golden_folder() + "/tables.json");
  if (!in) {
    GTEST_SKIP() << "no tables.json";
  }
  const Json tables = Json::parse(in).at("frequency_arguments");
  int cases = 0;
  for (const char* option : {"moe_layer_freq", "no_rope_freq"}) {
    for (const Json& row : tables.at(option)) {
      const Frequency got = parse_list_expression(row.at("text").get<std::string>());
      ++cases;
      if (row.at("value").is_array()) {
        EXPECT_EQ(got.entries, row.at("value").get<std::vector<Index>>()) << row;
      } else {
        EXPECT_EQ(got.number, row.at("value").get<Index>()) << row;
      }
    }
  }
  EXPECT_GT(cases, 10);
}

TEST(ListExpression, SurvivesRandomWords) {
  constexpr std::string_view kLetters = "0129,[]()+* ";
  std::mt19937 draw(7);
  int accepted = 0;
  for (int round = 0; round < 20000; ++round) {
    std::string text;
    for (unsigned length = draw() % 12; length > 0; --length) {
      text += kLetters[draw() % kLetters.size()];
    }
    try {
      const Frequency value = parse_list_expression(text);
      EXPECT_LE(static_cast<Index>(value.entries.size()), kMaxListEntries);
      EXPECT_EQ(text.find(' '), std::string::npos);
      ++accepted;
    } catch (const Error&) {
    }
  }
  EXPECT_GT(accepted, 100);
}

}  // namespace list_expression_test

}  // namespace mpitron::config

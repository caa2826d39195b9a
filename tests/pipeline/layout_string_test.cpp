#include <gtest/gtest.h>

#include "pipeline/stage_layout.h"
#include "utils/error.h"

namespace mpitron::pipeline {
namespace layout_string_test {

using Stages = std::vector<std::string>;

std::string error_of(std::string_view text) {
  try {
    parse_layout_string(text);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ExitCode::usage);
    return error.what();
  }
  return "";
}

TEST(LayoutString, RepeatsSymbolsAndGroups) {
  EXPECT_EQ(parse_layout_string("E|(t|)*3,m|m||L"),
            (Stages{"E", "t", "t", "t", "m", "m", "", "L"}));
  EXPECT_EQ(parse_layout_string("Et*3|(tt|)*2,mL"), (Stages{"Ettt", "tt", "tt", "mL"}));
  EXPECT_EQ(parse_layout_string("E(t*2|)*2L"), (Stages{"Ett", "tt", "L"}));
}

TEST(LayoutString, TakesEmptyStagesAndCountsOfZero) {
  EXPECT_EQ(parse_layout_string(""), (Stages{""}));
  EXPECT_EQ(parse_layout_string("E||L"), (Stages{"E", "", "L"}));
  EXPECT_EQ(parse_layout_string("Et*0|*2L"), (Stages{"E", "", "L"}));
}

TEST(LayoutString, CommasMeanNothingAnywhere) {
  EXPECT_EQ(parse_layout_string(",E,t,*1,0,|,L,"), (Stages{"Etttttttttt", "L"}));
}

TEST(LayoutString, MistakesAreNamedWithTheirColumn) {
  EXPECT_NE(error_of("E t|L").find("' ' at column 2"), std::string::npos) << error_of("E t|L");
  EXPECT_NE(error_of("Et|x|L").find("'x' at column 4"), std::string::npos);
  EXPECT_NE(error_of("Et*|L").find("expected a number at column 4"), std::string::npos);
  EXPECT_NE(error_of("E*-1").find("expected a number at column 3"), std::string::npos);
  EXPECT_NE(error_of("(tt").find("ends early at column 4"), std::string::npos);
  EXPECT_NE(error_of("(tt)L").find("expected * and a number"), std::string::npos);
  EXPECT_NE(error_of("((t|)*2)*2").find("another group"), std::string::npos);
  EXPECT_NE(error_of("()*2").find("empty"), std::string::npos);
  EXPECT_NE(error_of("*2").find("'*' at column 1"), std::string::npos);
  EXPECT_NE(error_of("t)").find("')' at column 2"), std::string::npos);
}

TEST(LayoutString, HugeCountsAreRefusedBeforeTheyTakeMemory) {
  EXPECT_NE(error_of("t*99999999999999999999").find("too large"), std::string::npos);
  EXPECT_NE(error_of("(t*1000000|)*1000000").find("too long"), std::string::npos);
}

}  // namespace layout_string_test
}  // namespace mpitron::pipeline

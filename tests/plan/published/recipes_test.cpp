#include "plan/published/recipes.h"

#include <gtest/gtest.h>

#include "plan/machine/exit_codes.h"

namespace mpitron::plan {
namespace recipes_test {

TEST(Recipes, MistakesAreNamed) {
  for (const char* row : {"{colour: red}", "{graphs: some}", "{full: many}"}) {
    try {
      parse_recipes(std::string("source: s\nrows:\n  - ") + row + "\n", "r.yaml");
      ADD_FAILURE() << row;
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), kBadParameterFile);
      EXPECT_EQ(std::string(error.what()).substr(0, 9), "r.yaml:3:");
    }
  }
}

TEST(Recipes, ShippedOnesAreRead) {
  EXPECT_GT(shipped_recipes().size(), 30U);
}

}  // namespace recipes_test

}  // namespace mpitron::plan

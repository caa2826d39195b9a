#include "config/values/option_values.h"

#include <gtest/gtest.h>

#include "utils/check.h"

namespace mpitron::config {
namespace option_values_test {

TEST(ReadNumber, AcceptsWholeWordsOnly) {
  EXPECT_EQ(read_integer("-12"), -12);
  EXPECT_EQ(read_integer("+12"), 12);
  EXPECT_FALSE(read_integer("1e3"));
  EXPECT_FALSE(read_integer("12x"));
  EXPECT_FALSE(read_integer(""));
  EXPECT_FALSE(read_integer("99999999999999999999"));
  EXPECT_EQ(read_real("1e-5"), 1e-5);
  EXPECT_FALSE(read_real("nan"));
  EXPECT_FALSE(read_real("inf"));
}

TEST(OptionValues, StartWithTheDefaults) {
  const OptionValues values;
  EXPECT_FALSE(values.has("num_layers"));
  EXPECT_FALSE(values.given("hidden_dropout"));
  EXPECT_DOUBLE_EQ(values.real("hidden_dropout"), 0.1);
  EXPECT_TRUE(values.flag("add_bias_linear"));
  EXPECT_FALSE(values.flag("swiglu"));
  EXPECT_EQ(values.integer("seed"), 1234);
  EXPECT_EQ(values.words("cp_comm_type"), std::vector<std::string>{"p2p"});
  EXPECT_EQ(values.integers("profile_ranks"), std::vector<Index>{0});
  EXPECT_TRUE(values.integers("iterations_to_skip").empty());
}

TEST(OptionValues, RememberWhereAValueComesFrom) {
  OptionValues values;
  const std::size_t slot = option_index().slot_of_dest("seed");
  values.set(slot, {"7"}, {Origin::Source::command_line, {}});
  EXPECT_TRUE(values.given("seed"));
  EXPECT_EQ(values.integer("seed"), 7);
  EXPECT_EQ(to_text(values.origin_at(slot)), "command line");
  values.derive("seed", "8", "= 7 + 1");
  EXPECT_FALSE(values.given("seed"));
  EXPECT_EQ(to_text(values.origin_at(slot)), "derived: = 7 + 1");
}

TEST(OptionValues, UnknownNamesAndMissingValuesAreBrokenInvariants) {
  const OptionValues values;
  EXPECT_THROW(values.flag("no_such_name"), InternalError);
  EXPECT_THROW(values.integer("num_layers"), InternalError);
}

}  // namespace option_values_test
}  // namespace mpitron::config

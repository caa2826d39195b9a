#include "config/options/option.h"

#include <gtest/gtest.h>

namespace mpitron::config {
namespace option_test {

TEST(Option, RowsSayWhatTheirMakerSays) {
  constexpr Option flag = rows::flag("bf16", Status::works, "bfloat16");
  static_assert(flag.kind == Kind::flag && flag.type == Type::boolean);
  EXPECT_EQ(flag.default_value, "false");
  EXPECT_EQ(flag.help, "bfloat16");
  constexpr Option off = rows::flag_off("no-x", "x", Status::later, "");
  EXPECT_EQ(off.kind, Kind::flag_off);
  EXPECT_EQ(off.default_value, "true");
  EXPECT_EQ(off.dest, "x");
  EXPECT_EQ(rows::integer("n", "4", Status::works, "").type, Type::integer);
  EXPECT_EQ(rows::real("r", rows::none, Status::works, "").default_value, std::nullopt);
}

TEST(Option, RefinementsChangeOneThing) {
  constexpr Option plain = rows::text("rope-type", "rope", Status::works, "kind");
  const Option refined = plain.choose("rope yarn").works_with("rope").also("rope").list();
  EXPECT_EQ(refined.choices, "rope yarn");
  EXPECT_EQ(refined.only, "rope");
  EXPECT_EQ(refined.alias, "rope");
  EXPECT_EQ(refined.kind, Kind::words);
  EXPECT_EQ(refined.name, plain.name);
  EXPECT_EQ(refined.default_value, plain.default_value);
  EXPECT_EQ(plain.choices, "");
  EXPECT_EQ(plain.kind, Kind::value);
  EXPECT_EQ(plain.unset().default_value, std::nullopt);
  EXPECT_EQ(plain.any_list().kind, Kind::any_words);
  EXPECT_EQ(plain.stored_as("d").use("--other").dest, "d");
  EXPECT_EQ(plain.use("--other").replacement, "--other");
}

}  // namespace option_test
}  // namespace mpitron::config

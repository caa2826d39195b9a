#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "config/flags.h"
#include "config/parse/report.h"

namespace mpitron::config {
namespace report_json_test {

using Json = nlohmann::json;
using test::parse_base;

TEST(ReportJson, GivenValuesAreThoseOfTheUser) {
  const Json given = Json::parse(
      given_values_json(test::parse_text("--num-layers 2 --hidden-size 16 --bf16").values));
  EXPECT_EQ(given, Json({{"bf16", true}, {"hidden_size", 16}, {"num_layers", 2}}));
}

TEST(ReportJson, JsonHoldsTypedValues) {
  const Json json = Json::parse(values_json(parse_base("--data-path a").values, false));
  EXPECT_EQ(json.at("num_layers"), 4);
  EXPECT_EQ(json.at("lr"), 0.002);
  EXPECT_EQ(json.at("swiglu"), false);
  EXPECT_TRUE(json.at("save").is_null());
  EXPECT_EQ(json.at("data_path"), Json::array({"a"}));
  const Json with = Json::parse(values_json(parse_base("").values, true));
  EXPECT_EQ(with.at("num_layers").at("origin"), "command line");
}

TEST(ReportJson, CheckAsJson) {
  const Json good = Json::parse(check_json(parse_base("")));
  EXPECT_EQ(good.at("ok"), true);
  const Json bad = Json::parse(check_json(parse_base("--hidden-size 65 --wandb-project x")));
  EXPECT_EQ(bad.at("ok"), false);
  EXPECT_EQ(bad.at("findings").at(0).at("id"), "E014");
  EXPECT_EQ(bad.at("notices").size(), 1U);
}

}  // namespace report_json_test

}  // namespace mpitron::config

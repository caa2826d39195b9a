#include "config/parse/report.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "config/flags.h"

namespace mpitron::config {
namespace report_test {

using Json = nlohmann::json;
using test::parse_base;

TEST(Report, ValuesLookAsTheReferencePrintsThem) {
  const ParsedRun parsed = parse_base("--data-path a b --iterations-to-skip 3 5");
  const std::string text = values_text(parsed.values, false);
  EXPECT_NE(text.find("\n  add_bias_linear ................................. True\n"),
            std::string::npos)
      << text.substr(0, 400);
  EXPECT_NE(text.find("\n  data_path ....................................... ['a', 'b']\n"),
            std::string::npos);
  EXPECT_NE(text.find("iterations_to_skip .............................. [3, 5]\n"),
            std::string::npos);
  EXPECT_NE(text.find("\n  save ............................................ None\n"),
            std::string::npos);
}

TEST(Report, TheBlockOfArgumentsIsShortUnlessAllAreWanted) {
  const OptionValues values = parse_base("--bf16").values;
  const std::string all = arguments_block(values, true), short_one = arguments_block(values, false);
  for (const std::string& block : {all, short_one}) {
    EXPECT_EQ(block.find("------------------------ arguments"), 0U);
    EXPECT_NE(block.find("end of arguments"), std::string::npos);
    EXPECT_NE(block.find("  bf16 ............................................ True\n"),
              std::string::npos);
    EXPECT_NE(block.find("  ffn_hidden_size ................................. 256\n"),
              std::string::npos);
  }
  EXPECT_NE(all.find("  clip_grad ....................................... 1.0\n"),
            std::string::npos);
  EXPECT_EQ(short_one.find("clip_grad"), std::string::npos);
  EXPECT_NE(short_one.find("--print-all-arguments"), std::string::npos);
}

TEST(Report, GivenValuesAreThoseOfTheUser) {
  const Json given = Json::parse(
      given_values_json(test::parse_text("--num-layers 2 --hidden-size 16 --bf16").values));
  EXPECT_EQ(given, Json({{"bf16", true}, {"hidden_size", 16}, {"num_layers", 2}}));
}

TEST(Report, ProvenanceTellsWhereAValueComesFrom) {
  const std::string text = values_text(parse_base("").values, true);
  EXPECT_NE(text.find("# command line"), std::string::npos);
  EXPECT_NE(text.find("# derived: = 4 * hidden_size"), std::string::npos);
  EXPECT_NE(text.find("# default"), std::string::npos);
}

TEST(Report, JsonHoldsTypedValues) {
  const Json json = Json::parse(values_json(parse_base("--data-path a").values, false));
  EXPECT_EQ(json.at("num_layers"), 4);
  EXPECT_EQ(json.at("lr"), 0.002);
  EXPECT_EQ(json.at("swiglu"), false);
  EXPECT_TRUE(json.at("save").is_null());
  EXPECT_EQ(json.at("data_path"), Json::array({"a"}));
  const Json with = Json::parse(values_json(parse_base("").values, true));
  EXPECT_EQ(with.at("num_layers").at("origin"), "command line");
}

TEST(Report, CheckAsJson) {
  const Json good = Json::parse(check_json(parse_base("")));
  EXPECT_EQ(good.at("ok"), true);
  const Json bad = Json::parse(check_json(parse_base("--hidden-size 65 --wandb-project x")));
  EXPECT_EQ(bad.at("ok"), false);
  EXPECT_EQ(bad.at("findings").at(0).at("id"), "E014");
  EXPECT_EQ(bad.at("notices").size(), 1U);
}

TEST(Report, WordsThatAreNotUtf8AreRefusedInWordsThatAre) {
  const Json bad = Json::parse(check_json(parse_base("--save ck\xff\xfe")));
  EXPECT_EQ(bad.at("findings").at(0).at("id"), "E002");
  EXPECT_NE(bad.at("findings").at(0).at("message").get<std::string>().find("UTF-8"),
            std::string::npos);
}

}  // namespace report_test
}  // namespace mpitron::config

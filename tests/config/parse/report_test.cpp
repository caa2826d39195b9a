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

TEST(Report, ProvenanceTellsWhereAValueComesFrom) {
  const std::string text = values_text(parse_base("").values, true);
  EXPECT_NE(text.find("# command line"), std::string::npos);
  EXPECT_NE(text.find("# derived: = 4 * hidden_size"), std::string::npos);
  EXPECT_NE(text.find("# default"), std::string::npos);
}

TEST(Report, WordsThatAreNotUtf8AreRefusedInWordsThatAre) {
  const Json bad = Json::parse(check_json(parse_base("--save ck\xff\xfe")));
  EXPECT_EQ(bad.at("findings").at(0).at("id"), "E002");
  EXPECT_NE(bad.at("findings").at(0).at("message").get<std::string>().find("UTF-8"),
            std::string::npos);
}

}  // namespace report_test

}  // namespace mpitron::config

#include "data/preprocess/json_text.h"

#include <gtest/gtest.h>

#include "support/corpus.h"

namespace mpitron::data {
namespace json_text_test {

using Texts = std::vector<std::string_view>;

std::string error_of(const std::string& json) {
  const std::vector<std::string> keys = {"text"};
  return test::message_of([&] {
    const std::string padded = json + std::string(JsonTextParser::kPadding, '\0');
    JsonTextParser().parse(std::string_view(padded).substr(0, json.size()), keys);
  });
}

TEST(JsonText, FindsKeysInAnyOrder) {
  const std::string json =
      R"({"n": {"text": "no"}, "b": ["x", "y\u00e9"], "text": "old", "text": "a\n\"b"})" +
      std::string(JsonTextParser::kPadding, ' ');
  const std::vector<std::string> keys = {"text", "b"};
  JsonTextParser parser;
  const auto texts = parser.parse(json, keys);
  EXPECT_EQ(texts[0], (Texts{"a\n\"b"})) << "the last of two equal keys counts";
  EXPECT_EQ(texts[1], (Texts{"x", "y\u00E9"}));
}

TEST(JsonText, SaysWhatIsWrong) {
  EXPECT_NE(error_of("{\"text\": \"a\xFF\"}").find("not valid UTF-8 at byte 11"),
            std::string::npos);
  EXPECT_NE(error_of("{\"text\": }").find("not valid JSON"), std::string::npos);
  EXPECT_NE(error_of("{\"text\": \"a\"} x").find("not valid JSON"), std::string::npos);
  EXPECT_NE(error_of("{\"text\": \"\\ud800\"}").find("not valid JSON"), std::string::npos);
  EXPECT_NE(error_of("{}").find("no key \"text\""), std::string::npos);
  EXPECT_NE(error_of("[1]").find("found a list"), std::string::npos);
  EXPECT_NE(error_of("{\"text\": 3}").find("found a number"), std::string::npos);
  EXPECT_NE(error_of("{\"text\": [\"a\", null]}").find("found null"), std::string::npos);
}

TEST(JsonText, IdLists) {
  EXPECT_EQ(parse_id_list(R"({"ids": [3, 1]})", "ids"), (std::vector<std::int32_t>{3, 1}));
  EXPECT_NE(test::message_of([] { parse_id_list(R"({"ids": [-3]})", "ids"); }), "");
  EXPECT_NE(test::message_of([] { parse_id_list("{}", "ids"); }), "");
}

TEST(JsonText, Quotes) {
  EXPECT_EQ(quote_json("a\"\\\b\f\n\r\t\x01\xFF"), "\"a\\\"\\\\\\b\\f\\n\\r\\t\\u0001\uFFFD\"");
}

}  // namespace json_text_test
}  // namespace mpitron::data

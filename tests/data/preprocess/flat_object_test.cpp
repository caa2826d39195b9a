#include "data/preprocess/flat_object.h"

#include <array>
#include <random>

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

namespace mpitron::data {
namespace flat_object_test {

const std::vector<std::string> kKeys = {"text", "id"};

bool parses(FlatObject& object, std::string& padded, const std::string& json) {
  padded = json + std::string(FlatObject::kPadding, '"');
  return object.parse(std::string_view(padded).substr(0, json.size()), kKeys);
}

TEST(FlatObject, ReadsStringsAndTheirEscapes) {
  FlatObject object;
  std::string padded;
  ASSERT_TRUE(parses(object, padded, R"( { "id" : "\"\\\/\b\f\n\r\t" ,
"other": "", "text":"old","text":"caf\u00e9 \uD83D\ude00 plain and longer than a word\n" } )"));
  EXPECT_EQ(object.texts()[0], "caf\u00E9 \U0001F600 plain and longer than a word\n");
  EXPECT_EQ(object.texts()[1], "\"\\/\b\f\n\r\t");
  ASSERT_TRUE(parses(object, padded, R"({"text":"","id":"x"})"));
  EXPECT_EQ(object.texts()[0], "");
}

TEST(FlatObject, LeavesEverythingElseToOthers) {
  FlatObject object;
  std::string padded;
  for (const std::string json :
       {R"({"text": "a"})", R"({"text": "a", "id": 3})", R"({"text": "a", "id": "b"} x)",
        R"({"text": "a", "id": "b")", R"({"text": "a", "id": "b",})", R"({"text": "a", "id": "b)",
        R"({"text": "\x", "id": "b"})", R"({"text": "\ud800", "id": "b"})",
        R"({"text": "\udc00", "id": "b"})", R"({"text": "\u12g4", "id": "b"})",
        R"({"text": "a", "i\u0064": "b"})", R"({"text": "a", "id": "b\)", R"({"text": "\u00)", "",
        "{", "[\"text\"]", "{\"text\": \"\xFF\", \"id\": \"\"}",
        "{\"text\": \"\n\", \"id\": \"\"}"}) {
    EXPECT_FALSE(parses(object, padded, json)) << json;
  }
}

// Blocks of sixteen bytes are looked at together.
TEST(FlatObject, FindsWhatIsSpecialAtEveryPlace) {
  FlatObject object;
  std::string padded;
  const std::string plain(40, 'a');
  for (std::size_t at = 0; at <= plain.size(); ++at) {
    const auto with = [&](std::string_view piece) { return std::string(plain).insert(at, piece); };
    const auto json = [](const std::string& text) {
      return "{\"id\": \"\", \"text\": \"" + text + "\"}";
    };
    for (const auto& [written, read] :
         {std::pair("\\n", "\n"), std::pair("\\\"", "\""), std::pair("\xC3\xA9", "\xC3\xA9")}) {
      ASSERT_TRUE(parses(object, padded, json(with(written)))) << at;
      EXPECT_EQ(object.texts()[0], with(read));
    }
    for (const std::string_view wrong : {"\x1F", "\xFF", "\"", "\\x"}) {
      EXPECT_FALSE(parses(object, padded, json(with(wrong)))) << at;
    }
  }
}

// What it accepts is valid, and has the values that a whole parser finds.
TEST(FlatObject, MutatedObjectsAgreeWithAWholeParser) {
  constexpr std::array<std::string_view, 14> kPieces = {
      "\"", "\\", "\\n",      "\\u00e9", "\\ud83d\\ude00", "{",    "}",
      ":",  ",",  "\xC3\xA9", "\xFF",    "\x01",           "text", "\"id\":\"q\""};
  FlatObject object;
  std::mt19937_64 random(5);
  int accepted = 0;
  for (int i = 0; i < 60000; ++i) {
    std::string json = R"({"text": "the quick brown fox\tjumps", "id": "7", "url": "a\/b"})";
    for (std::size_t n = random() % 4; n > 0; --n) {
      const std::size_t at = random() % json.size();
      const std::size_t size = std::min<std::size_t>(random() % 3, json.size() - at);
      json.replace(at, size, random() % 4 == 0 ? "" : kPieces[random() % kPieces.size()]);
    }
    std::string padded;
    if (!parses(object, padded, json)) {
      continue;
    }
    ++accepted;
    const auto expected = nlohmann::json::parse(json);
    ASSERT_EQ(object.texts()[0], expected["text"].get<std::string>()) << json;
    ASSERT_EQ(object.texts()[1], expected["id"].get<std::string>()) << json;
  }
  EXPECT_GT(accepted, 20000);
}

}  // namespace flat_object_test
}  // namespace mpitron::data

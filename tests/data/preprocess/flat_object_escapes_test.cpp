#include <gtest/gtest.h>

#include "data/preprocess/flat_object.h"

namespace mpitron::data {
namespace flat_object_escapes_test {

/// Returns the text that a string of JSON means; "none" where it is left to the whole parser.
std::string text_of(const std::string& string) {
  const std::vector<std::string> keys = {"t"};
  const std::string json = "{\"t\":\"" + string + "\"}";
  const std::string padded = json + std::string(FlatObject::kPadding, '"');
  FlatObject object;
  return object.parse(std::string_view(padded).substr(0, json.size()), keys)
             ? std::string(object.texts()[0])
             : "none";
}

TEST(FlatObjectEscapes, LettersMeanControlCharacters) {
  EXPECT_EQ(text_of(R"(\"\\\/\b\f\n\r\t)"), "\"\\/\b\f\n\r\t");
  EXPECT_EQ(text_of(R"(\x)"), "none");
}

TEST(FlatObjectEscapes, PairsOfSurrogatesAreOneCharacter) {
  EXPECT_EQ(text_of(R"(\u00e9\uD83D\ude00)"), "\u00e9\U0001F600");
  for (const char* half : {R"(\ud800)", R"(\udc00)", R"(\ud800\u0041)", R"(\u12g4)"}) {
    EXPECT_EQ(text_of(half), "none") << half;
  }
}

}  // namespace flat_object_escapes_test
}  // namespace mpitron::data

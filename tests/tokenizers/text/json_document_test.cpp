#include <cmath>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "support/corpus.h"
#include "tokenizers/text/json_view.h"

namespace mpitron::tokenizers {
namespace json_document_test {

// serde_json rounds twice: 10 digits of 0.1 are exact, these 17 digits end one bit away from the
// nearest double.
TEST(JsonDocument, NumbersAreThoseOfTheReference) {
  const JsonDocument document("[-7.25, 1e3, 0.1, 12345678901234567890123.5]");
  EXPECT_EQ(document.root().at(Index{0}).number(), -7.25);
  EXPECT_EQ(document.root().at(1).number(), 1000);
  EXPECT_EQ(document.root().at(2).number(), 0.1);
  EXPECT_NEAR(document.root().at(3).number() / 12345678901234567890123.5, 1, 1e-15);
  const JsonDocument small("[1.5e-2147483648, -0.0e99999999999999999999, 1.25e-99999999999]");
  for (Index i = 0; i < 3; ++i) {
    EXPECT_EQ(small.root().at(i).number(), 0) << i;
  }
}

TEST(JsonDocument, RefusesWhatIsNotJson) {
  using namespace std::string_view_literals;
  for (const std::string_view text : {""sv, " "sv, "{} x"sv, "[1,]"sv, "'a'"sv, "01"sv, "1e400"sv,
                                      "\"\xFF\""sv, "\"a\0b\""sv, "\"\\ud800\""sv}) {
    EXPECT_EQ(test::message_of([&] { JsonDocument{text}; }), "it is not valid JSON") << text;
  }
  EXPECT_EQ(JsonDocument(R"("a\u0000b")").root().text(), "a\0b"sv);
  EXPECT_EQ(JsonDocument(R"("\ud83d\ude00")").root().text(), "\U0001F600");
}

TEST(JsonDocument, LimitsOfNumbers) {
  const JsonDocument document(
      "[9223372036854775807,-9223372036854775808,-0.0,1e308,5e-324,1.5E+2]");
  const JsonView root = document.root();
  EXPECT_EQ(root.at(Index{0}).integer(), std::numeric_limits<Index>::max());
  EXPECT_EQ(root.at(1).integer(), std::numeric_limits<Index>::min());
  EXPECT_TRUE(std::signbit(root.at(2).number()));
  EXPECT_EQ(root.at(3).number(), 1e308);
  EXPECT_EQ(root.at(4).number(), 5e-324);
  EXPECT_EQ(root.at(5).number(), 150);
}

}  // namespace json_document_test
}  // namespace mpitron::tokenizers

#include "tokenizers/json_view.h"

#include <gtest/gtest.h>

#include "support/corpus.h"

namespace mpitron::tokenizers {
namespace {

TEST(JsonView, ReadsWithPaths) {
  const JsonDocument document(R"({"a":{"b":[1,2.5,"x",true,null]},"c":null})");
  const JsonView list = document.root().at("a").at("b");
  EXPECT_EQ(list.path(), "a.b");
  EXPECT_EQ(list.at(Index{0}).integer(), 1);
  EXPECT_EQ(list.at(1).number(), 2.5);
  EXPECT_EQ(list.at(2).text(), "x");
  EXPECT_TRUE(list.at(3).boolean());
  EXPECT_TRUE(list.at(4).is_null());
  EXPECT_FALSE(document.root().has("c"));
  EXPECT_EQ(document.root().text("d", "otherwise"), "otherwise");
  Index members = 0;
  document.root().for_members([&](const std::string&, const JsonView&) { ++members; });
  EXPECT_EQ(members, 2);
}

TEST(JsonView, ComplaintsNameThePlace) {
  const JsonDocument document(R"({"a":[{"type":7}]})");
  const JsonView type = document.root().at("a").at(Index{0}).at("type");
  EXPECT_EQ(test::message_of([&] { type.text(); }), "a[0].type is 7: a string is expected");
  EXPECT_EQ(test::message_of([&] { document.root().at("b"); }), "b is missing");
  EXPECT_NE(test::message_of([&] { document.root().at("a").at(1); }).find("too few"),
            std::string::npos);
  EXPECT_NE(test::message_of([] { JsonDocument("{\"a\":"); }).find("not valid JSON"),
            std::string::npos);
}

// serde_json rounds twice: 10 digits of 0.1 are exact, these 17 digits end one bit away from the
// nearest double.
TEST(JsonView, NumbersAreThoseOfTheReference) {
  const JsonDocument document("[-7.25, 1e3, 0.1, 12345678901234567890123.5]");
  EXPECT_EQ(document.root().at(Index{0}).number(), -7.25);
  EXPECT_EQ(document.root().at(1).number(), 1000);
  EXPECT_EQ(document.root().at(2).number(), 0.1);
  EXPECT_NEAR(document.root().at(3).number() / 12345678901234567890123.5, 1, 1e-15);
}

}  // namespace
}  // namespace mpitron::tokenizers

#include "tokenizers/text/json_view.h"

#include <string>

#include <gtest/gtest.h>

#include "support/corpus.h"

namespace mpitron::tokenizers {
namespace json_view_test {

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
  const std::string nested = std::string(100'000, '[') + std::string(100'000, ']');
  EXPECT_NE(test::message_of([&] { JsonDocument(nested).root().at("a"); }).find("not valid JSON"),
            std::string::npos);
}

bool complains(const std::string& message, std::string_view words) {
  return message.find(words) != std::string::npos;
}

TEST(JsonView, TellsTheKinds) {
  const JsonDocument document(R"({"n":null,"t":"","o":{},"a":[],"i":0,"f":false})");
  const JsonView root = document.root();
  EXPECT_EQ(root.path(), "");
  EXPECT_TRUE(root.is_object());
  EXPECT_FALSE(root.is_array() || root.is_text() || root.is_null());
  EXPECT_TRUE(root.at("t").is_text());
  EXPECT_TRUE(root.at("a").is_array());
  EXPECT_EQ(root.at("a").size(), 0);
  EXPECT_TRUE(root.at("o").is_object());
  EXPECT_TRUE(root.get("n").is_null());
  EXPECT_TRUE(root.get("none").is_null());
  EXPECT_EQ(root.get("none").path(), "none");
  EXPECT_FALSE(root.has("none"));
  // Zero, false and empty values are there.
  for (const char* key : {"t", "o", "a", "i", "f"}) {
    EXPECT_TRUE(root.has(key)) << key;
  }
  EXPECT_EQ(test::message_of([&] { root.at("n"); }), "n is missing");
}

TEST(JsonView, RefusesOtherKinds) {
  const JsonDocument document(R"({"s":"1","n":2,"f":2.5,"l":[1,2]})");
  const JsonView root = document.root();
  const auto complaint = [&](auto&& action) { return test::message_of(action); };
  EXPECT_EQ(complaint([&] { root.at("s").integer(); }), "s is \"1\": an integer is expected");
  EXPECT_EQ(complaint([&] { root.at("f").integer(); }), "f is 2.5: an integer is expected");
  EXPECT_EQ(complaint([&] { root.at("s").number(); }), "s is \"1\": a number is expected");
  EXPECT_EQ(complaint([&] { root.at("n").boolean(); }), "n is 2: true or false is expected");
  EXPECT_EQ(complaint([&] { root.at("n").size(); }), "n is 2: an array is expected");
  EXPECT_EQ(complaint([&] { root.at("l").at("x"); }), "l is [1,2]: an object is expected");
  EXPECT_EQ(complaint([&] { root.at("l").has("x"); }), "l is [1,2]: an object is expected");
  EXPECT_EQ(complaint([&] { root.at("l").at(2); }), "l is [1,2]: it has too few elements");
  EXPECT_EQ(complaint([&] { root.at("n").for_elements([](const JsonView&) {}); }),
            "n is 2: an array is expected");
  EXPECT_TRUE(complains(complaint([&] { root.text("n", "x"); }), "a string is expected"));
  EXPECT_TRUE(complains(complaint([&] { root.boolean("s", true); }), "true or false"));
  EXPECT_EQ(root.at("n").number(), 2);
}

TEST(JsonView, ComplaintsShortenTheValue) {
  const std::string fits(78, 'x');  // 80 characters with its quotes
  const JsonDocument document(R"({"a":")" + fits + R"(","b":"x)" + fits + R"("})");
  EXPECT_EQ(test::message_of([&] { document.root().at("a").refuse("no"); }),
            "a is \"" + fits + "\": no");
  EXPECT_EQ(test::message_of([&] { document.root().at("b").refuse("no"); }),
            "b is \"" + std::string(76, 'x') + "...: no");
}

TEST(JsonView, ChoosesAmongNames) {
  const JsonDocument document(R"({"kind":"two","odd":"four","null":null,"number":1})");
  const JsonView root = document.root();
  EXPECT_EQ(root.choose("kind", {"one", "two"}, 7), 1);
  EXPECT_EQ(root.choose("none", {"one", "two"}, 7), 7);
  EXPECT_EQ(root.choose("null", {"one", "two"}, 0), 0);
  EXPECT_EQ(test::message_of([&] {
              root.choose("odd", {"one", "two"}, 0);
            }),
            "odd is \"four\": supported are one, two");
  EXPECT_TRUE(complains(test::message_of([&] { root.choose("number", {"one"}, 0); }), "a string"));
}

TEST(JsonView, WalksElementsAndMembers) {
  const JsonDocument document(R"({"l":[4,5],"o":{"x":1,"y":2}})");
  std::string seen;
  const auto note = [&](const JsonView& value) {
    seen += value.path() + "=" + std::to_string(value.integer()) + " ";
  };
  document.root().at("l").for_elements(note);
  document.root().at("o").for_members(
      [&](const std::string& /*key*/, const JsonView& value) { note(value); });
  EXPECT_EQ(seen, "l[0]=4 l[1]=5 o.x=1 o.y=2 ");
  EXPECT_TRUE(complains(test::message_of([&] {
                          document.root().at("l").for_members(
                              [](const std::string&, const JsonView&) {});
                        }),
                        "an object is expected"));
}

TEST(JsonView, PathsOfMembersAreThoseOfAt) {
  const JsonDocument document(R"({"a":1})");
  document.root().for_members([&](const std::string& key, const JsonView& value) {
    EXPECT_EQ(value.path(), document.root().at(key.c_str()).path());
  });
}

TEST(JsonView, RefusesIntegersBeyondTheLimit) {
  const JsonDocument document("[18446744073709551615]");
  EXPECT_THROW(document.root().at(Index{0}).integer(), Error);
}

}  // namespace json_view_test
}  // namespace mpitron::tokenizers

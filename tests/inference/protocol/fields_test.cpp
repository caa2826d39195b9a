#include "inference/protocol/fields.h"

#include <gtest/gtest.h>

namespace mpitron::inference {
namespace fields_test {

std::string field_refused(const std::function<void(const Fields&)>& read, const char* body) {
  try {
    read(Fields::parse(body));
  } catch (const RequestError& error) {
    EXPECT_EQ(error.status(), 400);
    return error.field();
  }
  return "none";
}

TEST(Fields, RefuseWhatIsNoObjectOrTooDeep) {
  EXPECT_THROW(Fields::parse("{"), RequestError);
  EXPECT_THROW(Fields::parse("[1]"), RequestError);
  EXPECT_THROW(Fields::parse(""), RequestError);
  const std::string deep = std::string(65, '[') + std::string(65, ']');
  EXPECT_THROW(Fields::parse("{\"a\": " + deep + "}"), RequestError);
  std::string names = "{\"0\": 0";
  for (int i = 1; i <= 2048; ++i) {
    names += ", \"" + std::to_string(i) + "\": 0";
  }
  EXPECT_THROW(Fields::parse(names + "}"), RequestError);
  EXPECT_NO_THROW(Fields::parse(R"({"a": ")" + std::string(100, '[') + R"(\""})"));
}

TEST(Fields, KeepTheOrderOfNames) {
  EXPECT_EQ(Fields::parse(R"({"x": {"b": 1, "a": 2}})").json("x"), R"({"b":1,"a":2})");
}

TEST(Fields, NameTheFieldTheyRefuse) {
  EXPECT_EQ(field_refused([](const Fields& f) { f.boolean("x", false); }, R"({"x": 1})"), "x");
  EXPECT_EQ(field_refused([](const Fields& f) { f.integer("x", 0, {0, 5}); }, R"({"x": 6})"), "x");
  EXPECT_EQ(field_refused(
                [](const Fields& f) {
                  f.integer("x", 0, {0, 5});
                },
                R"({"x": 1.0})"),
            "x");
  EXPECT_EQ(field_refused(
                [](const Fields& f) {
                  f.integer("x", 0, {INT64_MIN, INT64_MAX});
                },
                R"({"x": 18446744073709551615})"),
            "x");
  EXPECT_EQ(field_refused([](const Fields& f) { f.number("x", 0, {0, 1}); }, R"({"x": 2})"), "x");
  EXPECT_EQ(field_refused([](const Fields& f) { f.text("x", ""); }, R"({"x": []})"), "x");
  EXPECT_EQ(field_refused([](const Fields& f) { f.bias("x"); }, R"({"x": {"a": 1}})"), "x");
  EXPECT_EQ(field_refused([](const Fields& f) { f.prompts("x"); }, R"({"x": [1, "a"]})"), "x");
  EXPECT_EQ(field_refused(
                [](const Fields& f) {
                  f.number("x", 0, {0, 1});
                },
                R"({"x": null})"),
            "none");
}

TEST(Fields, ReadAllFormsOfPrompts) {
  const auto prompts = [](const char* body) { return Fields::parse(body).prompts("p"); };
  EXPECT_EQ(prompts("{}").at(0).text, "");
  EXPECT_EQ(prompts(R"({"p": "a"})").at(0).text, "a");
  EXPECT_EQ(prompts(R"({"p": ["a", "b"]})").at(1).text, "b");
  EXPECT_EQ(prompts(R"({"p": [1, 2]})").at(0).ids, (TokenIds{1, 2}));
  EXPECT_EQ(prompts(R"({"p": [[1], [2, 3]]})").at(1).ids, (TokenIds{2, 3}));
}

}  // namespace fields_test
}  // namespace mpitron::inference

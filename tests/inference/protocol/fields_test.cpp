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
  EXPECT_EQ(field_refused([](const Fields& f) { f.integer("x", 0); }, R"({"x": 1.0})"), "x");
  EXPECT_EQ(
      field_refused([](const Fields& f) { f.integer("x", 0); }, R"({"x": 18446744073709551615})"),
      "x");
  EXPECT_EQ(field_refused([](const Fields& f) { f.text("x", ""); }, R"({"x": []})"), "x");
  EXPECT_EQ(field_refused([](const Fields& f) { f.ids("x"); }, R"({"x": [-1]})"), "x");
  EXPECT_EQ(field_refused([](const Fields& f) { f.bias("x"); }, R"({"x": {"a": 1}})"), "x");
  EXPECT_EQ(field_refused([](const Fields& f) { f.prompts("x"); }, R"({"x": [1, "a"]})"), "x");
  EXPECT_EQ(field_refused([](const Fields& f) { f.number("x", 0); }, R"({"x": null})"), "none");
}

/// Each type of a rule: a body that it allows, one that it refuses, and the text of the refusal.
TEST(Fields, ObeyTheirRules) {
  struct Row {
    FieldRule rule;
    const char* good;
    const char* bad;
    const char* text;
  };
  const std::vector<Row> rows = {
      {{"x", FieldType::boolean}, "true", "1", "x must be true or false"},
      {{"x", FieldType::integer, 0, 5}, "5", "6", "x must be an integer from 0 to 5"},
      {{"x", FieldType::integer}, "-7", "1.0", "x must be an integer"},
      {{"x", FieldType::number, 0, 1}, "0.5", "2", "x must be a number from 0 to 1"},
      {{"x", FieldType::text}, "\"a\"", "3", "x must be a string"},
      {{"x", FieldType::texts, 0, 1},
       "\"a\"",
       R"(["a", "b"])",
       "x must be a string or a list of at most 1 strings"},
      {{"x", FieldType::list}, "[1]", "{}", "x must be a list"},
      {{"x", FieldType::object}, "{}", "[1]", "x must be an object"},
      {{.name = "x", .type = FieldType::any, .required = true}, "1", "null", "x is required"}};
  for (const Row& row : rows) {
    const auto parse = [&](const char* value) {
      Fields::parse(std::string("{\"x\": ") + value + "}", std::span(&row.rule, 1));
    };
    EXPECT_NO_THROW(parse(row.good)) << row.text;
    try {
      parse(row.bad);
      ADD_FAILURE() << row.text;
    } catch (const RequestError& error) {
      EXPECT_EQ(std::string(error.what()), row.text);
      EXPECT_EQ(error.field(), "x");
    }
  }
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

#include "inference/tasks/field_expression.h"

#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "support/corpus.h"

namespace mpitron::inference {
namespace field_expression_test {

using Json = nlohmann::json;

const Json kDocument = {{"text", " a_b_c "},
                        {"list", {"x", "y"}},
                        {"answer", "2"},
                        {"choices", {{"label", {"A", "B"}}, {"text", {"u", "v"}}}}};

TEST(FieldExpression, HasWhatTaskFilesUse) {
  const auto value = [](const char* expression) { return field_value(expression, kDocument); };
  EXPECT_EQ(value("answer"), "2");
  EXPECT_EQ(value(" choices.label.index('B') "), 1);
  EXPECT_EQ(value("choices['text'][1]"), "v");
  EXPECT_EQ(value("list.0"), "x");
  EXPECT_EQ(value("[list[1], ' and ' + answer]"), (Json{"y", " and 2"}));
  EXPECT_EQ(value("{'1': 0, '2': 1}[answer]"), 1);
  EXPECT_EQ(value("text.split('_')[0] + 'z'"), " az");
  EXPECT_EQ(value("text.split('_', 1)[1].strip()"), "b_c");
  EXPECT_EQ(value("'aB C'.capitalize()"), "Ab c");
  EXPECT_EQ(value("(1 + 2)"), 3);
}

TEST(FieldExpression, SaysWhatIsWrong) {
  const auto expect_told = [](const char* expression, const std::string& part) {
    const std::string told = test::message_of([&] { field_value(expression, kDocument); });
    EXPECT_NE(told.find(part), std::string::npos) << told;
  };
  expect_told("nothing", "no field nothing");
  expect_told("list[2]", "has no 2");
  expect_told("list.index('z')", "\"z\" is not in");
  expect_told("text.title()", "no method title");
  expect_told("list + text", "no sum");
  expect_told("answer | int", "cannot be read from \"| int\"");
  expect_told("'open", "ends without");
}

}  // namespace field_expression_test
}  // namespace mpitron::inference

#include <gtest/gtest.h>

#include "tokenizers/jinja_values/value.h"
#include "utils/error.h"

namespace mpitron::tokenizers::jinja {
namespace json_value_test {

TEST(JsonValue, ComesFromJson) {
  const Value value = value_of_json(R"({"b": [1, 2.5, true, null, "x"], "a": {}})");
  ASSERT_NE(value.dict(), nullptr);
  EXPECT_EQ(*value.dict()->items()[0].first.text(), "b");  // in the order of the text
  const List& list = *value.dict()->find("b")->list();
  EXPECT_EQ(list[0].integer(), 1);
  EXPECT_EQ(list[1].real(), 2.5);
  EXPECT_TRUE(list[2].is_bool() && list[3].is_none());
  EXPECT_EQ(*list[4].text(), "x");
  EXPECT_TRUE(value_of_json("18446744073709551615").is_real());
  EXPECT_THROW(value_of_json("{"), Error);
  EXPECT_THROW(value_of_json(std::string(200, '[') + std::string(200, ']')), Error);
}

}  // namespace json_value_test

}  // namespace mpitron::tokenizers::jinja

#include "tokenizers/jinja_values/value.h"

#include <gtest/gtest.h>

#include "tokenizers/jinja_values/object.h"
#include "utils/error.h"

namespace mpitron::tokenizers::jinja {
namespace value_test {

TEST(Value, HasPythonsKeysAndTruth) {
  Dict dict;
  dict.set(1, "one");
  dict.set(true, "true");
  dict.set(1.0, "real");
  dict.set("1", "text");
  dict.set(Value(), "none");
  EXPECT_EQ(dict.size(), 3u);
  EXPECT_EQ(*dict.find(1)->text(), "real");
  EXPECT_EQ(dict.find(1.5), nullptr);
  EXPECT_THROW(dict.set(Value::of(List()), 1), Fault);
  for (const Value& value : {Value(), Value(0), Value(0.0), Value(""), Value(false),
                             Value::of(List()), Value::of(Dict()), Value::undefined("x")}) {
    EXPECT_FALSE(value.truthy());
  }
  for (const Value& value : {Value(1), Value(0.5), Value("0"), Value(true), Value::of(List{0})}) {
    EXPECT_TRUE(value.truthy());
  }
}

}  // namespace value_test

}  // namespace mpitron::tokenizers::jinja

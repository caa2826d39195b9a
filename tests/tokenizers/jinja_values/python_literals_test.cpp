#include <gtest/gtest.h>

#include "tokenizers/jinja_values/python_text.h"

namespace mpitron::tokenizers::jinja {
namespace python_literals_test {

TEST(PythonLiterals, QuotesAndUnescapes) {
  EXPECT_EQ(unescape(R"(a\n\x41\u00e4\U0001F600\101\q\\)"), "a\nA\u00e4\U0001F600A\\q\\");
  EXPECT_EQ(unescape(R"(\x4)"), std::nullopt);
  EXPECT_EQ(unescape(R"(\ud800)"), std::nullopt);
  EXPECT_EQ(literal_of("it's\x01\u200b"), "\"it's\\x01\\u200b\"");
  EXPECT_EQ(decimal(1e22), "1e+22");
  EXPECT_EQ(decimal(0.1), "0.1");
  EXPECT_EQ(decimal(-2), "-2.0");
}

}  // namespace python_literals_test

}  // namespace mpitron::tokenizers::jinja

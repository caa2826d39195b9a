#include "tokenizers/jinja_values/python_text.h"

#include <gtest/gtest.h>

namespace mpitron::tokenizers::jinja {
namespace python_text_test {

using Texts = std::vector<std::string_view>;

TEST(PythonText, StripsAndSplitsCharacters) {
  EXPECT_EQ(strip("\u00A0\t x\u3000\x1f"), "x");
  EXPECT_EQ(strip("äöxöä", "äö"), "x");
  EXPECT_EQ(split(" a \u2003b ", std::nullopt, -1), (Texts{"a", "b"}));
  EXPECT_EQ(split("a b c ", std::nullopt, 1), (Texts{"a", "b c"}));
  EXPECT_EQ(split("a b c", std::nullopt, 1, true), (Texts{"a b", "c"}));
  EXPECT_EQ(split("", ",", -1), (Texts{""}));
  EXPECT_EQ(split_lines("a\r\nb\n\nc", true), (Texts{"a\r\n", "b\n", "\n", "c"}));
  EXPECT_EQ(replaced("aaa", "a", "b", 2), "bba");
  EXPECT_EQ(replaced("äb", "", "-", -1), "-ä-b-");
  EXPECT_EQ(characters("äöü"), 3);
  EXPECT_EQ(byte_of("äöü", 2), 4u);
  EXPECT_EQ(byte_of("äöü", 9), 6u);
}

}  // namespace python_text_test

}  // namespace mpitron::tokenizers::jinja

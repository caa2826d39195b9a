#include "utils/text/blanks.h"

#include <gtest/gtest.h>

namespace mpitron {
namespace blanks_test {

TEST(Blanks, AreTakenFromEndsOnly) {
  EXPECT_EQ(stripped(" \t a b\r\n"), "a b");
  EXPECT_EQ(stripped("word"), "word");
  EXPECT_EQ(stripped(" \n"), "");
  EXPECT_EQ(from_first_word("\v a "), "a ");
  EXPECT_EQ(stripped("\x1c a\x1f"), "\x1c a\x1f");
  EXPECT_EQ(stripped("\x1c a\x1f", kTextBlanks), "a");
}

}  // namespace blanks_test
}  // namespace mpitron

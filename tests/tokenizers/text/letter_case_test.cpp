#include <string>
#include <string_view>

#include <gtest/gtest.h>

#include "support/corpus.h"
#include "tokenizers/text/unicode_text.h"
#include "utils/error.h"

namespace mpitron::tokenizers {
namespace letter_case_test {

TEST(LetterCase, LowerCase) {
  EXPECT_EQ(lower_case("ABC \u00c4\u01c5\u1e9e"), "abc \u00e4\u01c6\u00df");
  EXPECT_EQ(lower_case("\u0130"), "i\u0307");
  EXPECT_EQ(lower_case("\u039f\u03a3"), "\u03bf\u03c3");
  EXPECT_EQ(lower_case_with_final_sigma("\u039f\u03a3"), "\u03bf\u03c2");
  EXPECT_EQ(lower_case_with_final_sigma("\u03a3\u039f"), "\u03c3\u03bf");
  EXPECT_EQ(lower_case_with_final_sigma("\u039f\u03a3'"), "\u03bf\u03c2'");
}

TEST(LetterCase, LowerCaseOfEdges) {
  EXPECT_EQ(lower_case(""), "");
  EXPECT_EQ(lower_case("@AZ[`az{"), "@az[`az{");
  EXPECT_EQ(lower_case(std::string_view("A\0B", 3)), std::string("a\0b", 3));
  EXPECT_EQ(lower_case("\U00010400\u00df\u4e2d"), "\U00010428\u00df\u4e2d");
  EXPECT_EQ(test::message_of([] { lower_case("ab\xFF"); }),
            "text is not valid UTF-8 at byte 2 (0xFF)");
  EXPECT_EQ(test::message_of([] { lower_case_with_final_sigma("\u00e9\xC3"); }),
            "text is not valid UTF-8 at byte 2 (0xC3)");
}

// The expected ones are Python's.
TEST(LetterCase, FinalSigma) {
  EXPECT_EQ(lower_case_with_final_sigma("\u03a3"), "\u03c3");
  EXPECT_EQ(lower_case_with_final_sigma("1\u03a3"), "1\u03c3");
  EXPECT_EQ(lower_case_with_final_sigma("a\u0301\u03a3"), "a\u0301\u03c2");
  EXPECT_EQ(lower_case_with_final_sigma("A\u03a3.A"), "a\u03c3.a");
  EXPECT_EQ(lower_case_with_final_sigma("A\u03a3 B"), "a\u03c2 b");
  EXPECT_EQ(lower_case_with_final_sigma("A\u03a3\u03a3"), "a\u03c3\u03c2");
}

TEST(LetterCase, FinalSigmaAfterOtherCasedCharacters) {
  EXPECT_EQ(lower_case_with_final_sigma("\u00aa\u03a3"), "\u00aa\u03c2");
  EXPECT_EQ(lower_case_with_final_sigma("\u24d0\u03a3"), "\u24d0\u03c2");
}

}  // namespace letter_case_test

}  // namespace mpitron::tokenizers

#include "tokenizers/text/unicode_classes.h"

#include <gtest/gtest.h>

namespace mpitron::tokenizers {
namespace unicode_classes_test {

// The lexer's test compares all code points with PCRE2; these are facts one can look up.
TEST(UnicodeClasses, KnownCharacters) {
  for (const std::uint32_t c : {0x41U, 0xE9U, 0x4E2DU, 0x5D0U, 0x1E900U, 0x10400U}) {
    EXPECT_NE(char_class(c) & kLetter, 0) << c;
  }
  for (const std::uint32_t c : {0x30U, 0xB2U, 0xBDU, 0x2167U, 0x1D7CEU}) {
    EXPECT_EQ(char_class(c), kNumber) << c;
  }
  for (const std::uint32_t c : {0x9U, 0x20U, 0x85U, 0xA0U, 0x2003U, 0x3000U}) {
    EXPECT_EQ(char_class(c), kBlank) << c;
  }
  for (const std::uint32_t c :
       {0x0U, 0x1CU, 0x5FU, 0x180EU, 0x200BU, 0xFEFFU, 0x1F600U, 0x10FFFFU, 0x110000U}) {
    EXPECT_EQ(char_class(c), kOther) << c;
  }
  EXPECT_EQ(char_class('A'), kUpper);
  EXPECT_EQ(char_class(0x1C5), kUpper) << "title case";
  EXPECT_EQ(char_class(0x10428), kLower);
  EXPECT_EQ(char_class(0x2B0), kCaseless);
  EXPECT_EQ(char_class(0x4E2D), kCaseless);
  EXPECT_EQ(char_class(0x301), kMark);
  EXPECT_EQ(char_class(0xE0100), kMark);
  EXPECT_EQ(char_class('\n'), kNewline);
  EXPECT_EQ(char_class('\r'), kNewline);
}

TEST(UnicodeClasses, ByteTableAgrees) {
  for (std::uint32_t c = 0; c < 128; ++c) {
    EXPECT_EQ(kByteClasses[c], char_class(c)) << c;
  }
  for (std::uint32_t c = 128; c < 256; ++c) {
    EXPECT_EQ(kByteClasses[c], 0) << c;
  }
}

}  // namespace unicode_classes_test
}  // namespace mpitron::tokenizers

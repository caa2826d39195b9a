#include "utils/text/utf8.h"

#include <gtest/gtest.h>

namespace mpitron {

namespace utf8_test {

TEST(Utf8, EveryCodePointComesBack) {
  for (std::uint32_t c = 0; c < 0x110000; ++c) {
    std::string text;
    append_utf8(c, text);
    const Utf8Char decoded = decode_utf8(text + "x");
    const bool surrogate = c >= 0xD800 && c < 0xE000;
    ASSERT_EQ(decoded.bytes, surrogate ? 0 : static_cast<int>(text.size())) << c;
    ASSERT_EQ(decoded.code_point, surrogate ? 0 : c);
  }
}

TEST(Utf8, RejectsWhatTheRfcForbids) {
  for (const std::string bad :
       {"\x80", "\xC0\x80", "\xC1\xBF", "\xE0\x80\x80", "\xED\xA0\x80", "\xF0\x80\x80\x80",
        "\xF4\x90\x80\x80", "\xF5\x80\x80\x80", "\xFF", "\xE4\xB8", "\xE4\xB8x"}) {
    EXPECT_EQ(decode_utf8(bad).bytes, 0) << bad;
  }
}

TEST(Utf8, LastCharactersAreWhole) {
  EXPECT_EQ(last_character("ab"), "b");
  EXPECT_EQ(last_character("a\u00E9"), "\u00E9");
  EXPECT_EQ(last_character("\U0001F600"), "\U0001F600");
  EXPECT_EQ(last_character("\x80\x80"), "\x80\x80");  // bytes without a first one
}

TEST(Utf8, ReplacesInvalidBytesOneByOne) {
  EXPECT_EQ(replace_invalid_utf8("a\xFF\xC3\xA9\xE4\xB8"), "a\uFFFD\u00E9\uFFFD\uFFFD");
}

TEST(Printable, TextsWithoutControlsStayAsTheyAre) {
  for (const char* text : {"", "a b", "two\nlines\tand more", "größer ▁ 日本", "\xc2\xa0"}) {
    EXPECT_FALSE(holds_controls(text)) << text;
    EXPECT_EQ(without_controls(text), text);
  }
}

TEST(Printable, WhatATerminalObeysIsReplaced) {
  EXPECT_EQ(without_controls("\x1b[2Jgone\r"), "\xef\xbf\xbd[2Jgone\xef\xbf\xbd");
  EXPECT_EQ(without_controls("a\x7f\x07"), "a\xef\xbf\xbd\xef\xbf\xbd");
  EXPECT_EQ(without_controls("\xc2\x9b"
                             "5n"),
            "\xef\xbf\xbd"
            "5n");
  for (const char* text : {"\x1b", "\r", "\x7f", "\xc2\x9b"}) {
    EXPECT_TRUE(holds_controls(text));
  }
}

}  // namespace utf8_test

}  // namespace mpitron

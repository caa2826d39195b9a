#include "utils/text/printable.h"

#include <gtest/gtest.h>

namespace mpitron {
namespace printable_test {

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

}  // namespace printable_test
}  // namespace mpitron

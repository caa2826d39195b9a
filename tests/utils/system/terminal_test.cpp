#include "utils/system/terminal.h"

#include <cstdlib>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace mpitron {
namespace terminal_test {

TEST(Terminal, TellsItsColumns) {
  const int terminal = ::posix_openpt(O_RDWR | O_NOCTTY);
  ASSERT_GE(terminal, 0);
  EXPECT_EQ(terminal_columns(terminal), std::nullopt) << "not set yet";
  const winsize size{.ws_row = 24, .ws_col = 60, .ws_xpixel = 0, .ws_ypixel = 0};
  ASSERT_EQ(::ioctl(terminal, TIOCSWINSZ, &size), 0);
  EXPECT_EQ(terminal_columns(terminal), 60);
  ::close(terminal);
}

TEST(FoldLines, BreaksAtBlanksAndGoesOnBelowTheSecondColumn) {
  EXPECT_EQ(fold_lines("short\n", 10, 4), "short\n");
  EXPECT_EQ(fold_lines("one two three", 8, 4), "one two\nthree");
  EXPECT_EQ(fold_lines(" a  one two three\n", 11, 4), " a  one two\n    three\n");
  EXPECT_EQ(fold_lines(" a  aVeryLongWord b\n", 8, 4), " a  aVeryLongWord b\n");
  EXPECT_EQ(fold_lines("", 8, 4), "");
}

TEST(Terminal, AFileHasNone) {
  const int file = ::open("/dev/null", O_WRONLY);
  EXPECT_EQ(terminal_columns(file), std::nullopt);
  ::close(file);
}

}  // namespace terminal_test
}  // namespace mpitron

#include "utils/system/machine.h"

#include <cstdlib>
#include <fstream>
#include <string>

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/ioctl.h>
#include <unistd.h>

namespace mpitron {

namespace machine_test {

TEST(HostName, IsTheKernels) {
  std::string name;
  std::getline(std::ifstream("/proc/sys/kernel/hostname"), name);
  EXPECT_EQ(host_name(), name);
}

TEST(MachineMemory, IsWhatTheSystemTells) {
  std::ifstream file("/proc/meminfo");
  std::string name;
  Index kibibytes = 0;
  ASSERT_TRUE(file >> name >> kibibytes);
  ASSERT_EQ(name, "MemTotal:");
  EXPECT_EQ(machine_memory() >> 10, kibibytes);
}

TEST(Machine, SomeOfItsMemoryIsFree) {
  EXPECT_GT(free_memory(), 0);
  EXPECT_LT(free_memory(), machine_memory());
}

TEST(CommandOutput, HasBothOutputsAndTheExitCode) {
  const CommandOutput output = command_output({"sh", "-c", "echo out; echo err >&2; exit 5"});
  EXPECT_EQ(output.code, 5);
  EXPECT_EQ(output.text, "out\nerr\n");
}

TEST(CommandOutput, WordsAreNotReadAgain) {
  EXPECT_EQ(command_output({"printf", "%s", "a b; $HOME"}).text, "a b; $HOME");
}

TEST(CommandOutput, TakesMoreThanAPipeHolds) {
  EXPECT_EQ(command_output({"head", "-c", "200000", "/dev/zero"}).text.size(), 200000U);
}

TEST(CommandOutput, GivesNoInput) {
  EXPECT_EQ(command_output({"cat"}).text, "");
}

TEST(CommandOutput, TellsOfAbsentAndKilledPrograms) {
  EXPECT_EQ(command_output({"no-such-program-anywhere"}).code, 127);
  EXPECT_EQ(command_output({"sh", "-c", "kill -9 $$"}).code, 128 + 9);
}

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

}  // namespace machine_test

}  // namespace mpitron

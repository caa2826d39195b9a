#include "utils/system/command_output.h"

#include <gtest/gtest.h>

namespace mpitron {
namespace command_output_test {

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

}  // namespace command_output_test
}  // namespace mpitron

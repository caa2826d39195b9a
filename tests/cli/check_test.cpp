#include <gtest/gtest.h>

#include "cli/commands.h"
#include "support/tiny_flags.h"

namespace mpitron::cli {
namespace {

std::string output_of(int (*command)(const Arguments&), const Arguments& arguments, int expected) {
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(command(arguments), expected);
  return ::testing::internal::GetCapturedStdout();
}

TEST(Check, BeginsWithOk) {
  EXPECT_EQ(output_of(check, test::tiny_flags(), 0).substr(0, 13), "OK: 4 layers,");
}

TEST(Check, TellsTheMemoryThatIsNeededAndMissing) {
  const std::string text = output_of(check, test::tiny_flags(), 0);
  EXPECT_NE(text.find("memory of the fullest rank: "), std::string::npos);
  EXPECT_EQ(text.find("warning"), std::string::npos);
  const std::string much = output_of(
      check,
      test::tiny_flags({"--seq-length", "4000000000", "--max-position-embeddings", "4000000000"}),
      0);
  EXPECT_NE(much.find("warning: this machine has "), std::string::npos) << much;
}

TEST(Check, ListsEveryProblemAndReturnsTwo) {
  const std::string text =
      output_of(check, test::tiny_flags({"--hidden-size", "65", "--fp16", "--bf16"}), 2);
  EXPECT_NE(text.find("E014"), std::string::npos);
  EXPECT_NE(text.find("E030"), std::string::npos);
}

TEST(Check, SpeaksJson) {
  EXPECT_NE(output_of(check, test::tiny_flags({"--json"}), 0).find("\"ok\": true"),
            std::string::npos);
  EXPECT_NE(output_of(check, test::tiny_flags({"--json", "--x"}), 2).find("\"ok\": false"),
            std::string::npos);
}

}  // namespace
}  // namespace mpitron::cli

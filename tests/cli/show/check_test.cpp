#include <gtest/gtest.h>

#include "cli/commands.h"
#include "support/tiny_flags.h"

namespace mpitron::cli {
namespace check_test {

std::string output_of(int (*command)(const Arguments&), const Arguments& arguments, int expected) {
  ::testing::internal::CaptureStdout();
  EXPECT_EQ(command(arguments), expected);
  return ::testing::internal::GetCapturedStdout();
}

TEST(Check, BeginsWithOk) {
  EXPECT_EQ(output_of(check, test::tiny_flags({"--no-files"}), 0).substr(0, 13), "OK: 4 layers,");
}

TEST(Check, TellsTheMemoryThatIsNeededAndMissing) {
  const std::string text = output_of(check, test::tiny_flags({"--no-files"}), 0);
  EXPECT_NE(text.find("memory of the fullest rank: "), std::string::npos);
  EXPECT_EQ(text.find("warning"), std::string::npos);
  const std::string much = output_of(
      check,
      test::tiny_flags({"--seq-length", "40000", "--max-position-embeddings", "40000",
                        "--micro-batch-size", "1000", "--global-batch-size", "1000", "--no-files"}),
      0);
  EXPECT_NE(much.find("warning: this machine has "), std::string::npos) << much;
}

TEST(Check, RefusesSizesThatNoMachineHolds) {
  EXPECT_NE(output_of(check, test::tiny_flags({"--num-layers", "100001", "--no-files"}), 2)
                .find("num_layers = 100001"),
            std::string::npos);
  EXPECT_THROW(check(test::tiny_flags({"--hidden-size", "4000000", "--no-files"})), Error);
}

TEST(Check, ListsEveryProblemAndReturnsTwo) {
  const std::string text =
      output_of(check, test::tiny_flags({"--hidden-size", "65", "--fp16", "--bf16"}), 2);
  EXPECT_NE(text.find("E014"), std::string::npos);
  EXPECT_NE(text.find("E030"), std::string::npos);
}

TEST(Check, SpeaksJson) {
  EXPECT_NE(output_of(check, test::tiny_flags({"--json", "--no-files"}), 0).find("\"ok\": true"),
            std::string::npos);
  EXPECT_NE(output_of(check, test::tiny_flags({"--json", "--x"}), 2).find("\"ok\": false"),
            std::string::npos);
}

TEST(Check, TellsWhatARunWouldRefuseOfItsFiles) {
  const Arguments null_tokenizer = {"--tokenizer-type", "NullTokenizer", "--vocab-size", "99"};
  const auto flags = [&](Arguments more) {
    more.insert(more.begin(), null_tokenizer.begin(), null_tokenizer.end());
    return test::tiny_flags(more);
  };
  EXPECT_NE(output_of(check, flags({"--data-path", "/absent/corpus"}), 4).find("F003"),
            std::string::npos);
  EXPECT_NE(output_of(check, flags({}), 2).find("E220"), std::string::npos);
  EXPECT_EQ(output_of(check, flags({"--mock-data"}), 0).substr(0, 3), "OK:");
}

}  // namespace check_test
}  // namespace mpitron::cli

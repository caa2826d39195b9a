#include <gtest/gtest.h>

#include "cli/commands.h"

namespace mpitron::cli {
namespace {

const Arguments kGood = {"--num-layers",
                         "4",
                         "--hidden-size",
                         "64",
                         "--num-attention-heads",
                         "4",
                         "--seq-length",
                         "32",
                         "--max-position-embeddings",
                         "32",
                         "--micro-batch-size",
                         "2",
                         "--train-iters",
                         "5",
                         "--lr",
                         "1e-3"};

Arguments with(Arguments words, std::initializer_list<const char*> more) {
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

std::string output_of(int (*command)(const Arguments&), const Arguments& arguments, int expected) {
  testing::internal::CaptureStdout();
  EXPECT_EQ(command(arguments), expected);
  return testing::internal::GetCapturedStdout();
}

TEST(Check, SaysOkInOneLine) {
  EXPECT_EQ(output_of(check, kGood, 0).substr(0, 13), "OK: 4 layers,");
}

TEST(Check, ListsEveryProblemAndReturnsTwo) {
  const std::string text =
      output_of(check, with(kGood, {"--hidden-size", "65", "--fp16", "--bf16"}), 2);
  EXPECT_NE(text.find("E014"), std::string::npos);
  EXPECT_NE(text.find("E030"), std::string::npos);
}

TEST(Check, SpeaksJson) {
  EXPECT_NE(output_of(check, with(kGood, {"--json"}), 0).find("\"ok\": true"), std::string::npos);
  EXPECT_NE(output_of(check, with(kGood, {"--json", "--x"}), 2).find("\"ok\": false"),
            std::string::npos);
}

}  // namespace
}  // namespace mpitron::cli

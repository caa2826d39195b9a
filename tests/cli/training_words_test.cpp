#include "cli/training_words.h"

#include <gtest/gtest.h>

#include "cli/commands.h"
#include "support/tiny_flags.h"

namespace mpitron::cli {
namespace training_words_test {

TEST(TrainingWords, ACommandBecomesItsOptions) {
  EXPECT_EQ(training_options({"pretrain-vlm", "--bf16"}), (Arguments{"--model", "vlm", "--bf16"}));
  EXPECT_EQ(training_options({"pretrain-vision-dino"}),
            (Arguments{"--model", "vit", "--vision-pretraining-type", "dino"}));
  EXPECT_EQ(training_options({"pretrain-x", "--bf16"}), (Arguments{"pretrain-x", "--bf16"}));
  EXPECT_EQ(training_options({"--bf16"}), (Arguments{"--bf16"}));
  EXPECT_EQ(training_options({}), Arguments{});
}

TEST(TrainingWords, ChecksAndPlansTakeACopiedCommandLine) {
  Arguments words = test::tiny_flags({"--no-files"});
  words.insert(words.begin(), "pretrain-gpt");
  EXPECT_EQ(check(words), 0);
  words.pop_back();
  EXPECT_EQ(plan(words), 0);
}

}  // namespace training_words_test
}  // namespace mpitron::cli

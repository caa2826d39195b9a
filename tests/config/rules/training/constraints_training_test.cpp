#include <gtest/gtest.h>

#include "config/parse/parse.h"
#include "config/values/option_table.h"
#include "support/tiny_flags.h"

namespace mpitron::config {
namespace constraints_training_test {

using namespace std::string_literals;

/// Ids of the training rules that these flags break, behind a tiny GPT's.
std::string broken(const std::vector<std::string>& more) {
  std::string ids;
  for (const Finding& finding : with_training_rules(parse_run(test::tiny_flags(more))).findings) {
    ids += finding.id + " ";
  }
  return ids;
}

TEST(TrainingConstraints, HoldForMockData) {
  EXPECT_EQ(broken({"--mock-data", "--vocab-file", "v", "--merge-file", "m"}), "");
}

TEST(TrainingConstraints, EachIsToldByItsOwnId) {
  const auto with_tokenizer = [](std::vector<std::string> flags) {
    flags.insert(flags.end(), {"--tokenizer-type", "NullTokenizer", "--vocab-size", "99"});
    return broken(flags);
  };
  EXPECT_EQ(with_tokenizer({}), "E220 ");
  EXPECT_EQ(with_tokenizer({"--mock-data", "--sample-prompt", "x", "--tensor-model-parallel-size",
                            "2", "--world-size", "2"}),
            "E222 ");
  EXPECT_EQ(with_tokenizer({"--mock-data", "--profile", "--profile-ranks", "3"}), "E223 ");
  EXPECT_EQ(with_tokenizer({"--mock-data", "--iterations-to-skip", "0"}), "E224 ");
}

TEST(TrainingConstraints, MockDataAreRunningText) {
  const auto nearest = [](const char* flags) {
    const ParsedRun run =
        with_training_rules(parse_run(test::tiny_flags(split_words(flags + " --mock-data"s))));
    for (const Finding& finding : run.findings) {
      if (finding.id == "E221") {
        return finding.nearest;
      }
    }
    return ""s;
  };
  EXPECT_EQ(nearest(""), "");
  EXPECT_EQ(nearest("--model bert --vocab-file v"), "--data-path PREFIX (of .bin and .idx)");
  EXPECT_EQ(nearest("--model vit --num-classes 3 --img-h 16 --img-w 16 --patch-dim 4"),
            "--data-path TRAIN VALIDATION (folders)");
}

TEST(TrainingConstraints, TheScriptsOwnTokenizerNeedsItsFiles) {
  EXPECT_EQ(broken({"--mock-data"}), "E340 ");
  const ParsedRun gpt = with_training_rules(parse_run(test::tiny_flags({"--mock-data"})));
  EXPECT_NE(to_text(gpt.findings).find("(derived: default of pretrain-gpt). Nearest: --vocab-file"),
            std::string::npos)
      << to_text(gpt.findings);
  EXPECT_EQ(broken({"--model", "bert", "--data-path", "x"}), "E340 ");
  EXPECT_EQ(broken({"--model", "bert", "--data-path", "x", "--vocab-file", "v"}), "");
}

TEST(TrainingConstraints, ReplayedRunsNeedNone) {
  EXPECT_TRUE(parse_run(test::tiny_flags()).findings.empty());
}

}  // namespace constraints_training_test
}  // namespace mpitron::config

#include <gtest/gtest.h>

#include "config/rule_cases.h"

namespace mpitron::config {
namespace constraints_samples_test {

using test::RuleCase;

constexpr RuleCase kBroken[] = {
    {"--sft --data-path a", "E159", "--tokenizer-type SFTTokenizer"},
    {"--sft --tokenizer-type SFTTokenizer --tokenizer-model m --mock-data", "E159", "mock"},
    {"--data-path a --fim-data --fim-spm-rate 0", "E280", "rates 0.5, 0, 0"},
    {"--data-path a --fim-data --fim-rate 1.5", "E280", "rates 1.5"},
    {"--data-path a --fim-data --fim-split-sample x", "E280", "without --fim-fragment-rate"},
    {"--mock-data --fim-data", "E281", "--mock-data"},
    {"--data-path a --fim-data --dataloader-inter-document-masking", "E281", "inter-document"},
    {"--sft --eod-mask-loss", "E160", "--eod-mask-loss given"},
};

TEST(SampleConstraints, EachIsBrokenByItsSmallestExample) {
  test::expect_broken(kBroken);
}

TEST(SampleConstraints, EveryRuleHasAnExample) {
  test::expect_examples(sample_constraints(), kBroken);
}

}  // namespace constraints_samples_test
}  // namespace mpitron::config

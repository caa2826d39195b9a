#include <gtest/gtest.h>

#include "config/rule_cases.h"

namespace mpitron::config {
namespace constraints_data_test {

using test::RuleCase;

constexpr RuleCase kBroken[] = {
    {"--data-path a --mock-data", "E060", "2 sources"},
    {"--data-path a --data-args-path /no/such/file", "E061", "both"},
    {"--data-path a --split 0,0,0", "E062", "0,0,0"},
    {"--data-path a --split 1,2,3,4", "E062", "1,2,3,4"},
    {"--data-path a --split 1,2.3.4", "E062", "1,2.3.4"},
    {"--train-data-path a --split 1,1,1", "E062", "split already"},
    {"--multiple-validation-sets", "E063", "--full-validation"},
    {"--tokenizer-type NullTokenizer", "E064", "--vocab-size N"},
    {"--tokenizer-type GPT2BPETokenizer --vocab-file v", "E064", "--merge-file"},
    {"--tokenizer-type BertWordPieceCase", "E064", "--vocab-file vocab.txt"},
    {"--tokenizer-type HuggingFaceTokenizer", "E064", "--tokenizer-model FILE"},
};

TEST(DataConstraints, EachIsBrokenByItsSmallestExample) {
  test::expect_broken(kBroken);
}

TEST(DataConstraints, EveryRuleHasAnExample) {
  test::expect_examples(data_constraints(), kBroken);
}

constexpr const char* kLegal[] = {
    "--full-validation --multiple-validation-sets --train-data-path a --valid-data-path b c",
    "--data-path 0.5 a 0.5 b --split 8,1,1",
    "--data-path a --split '99,1,0'",  // quoted twice, as in some of the reference's scripts
    "--data-path a.jsonl --sft --tokenizer-type SFTTokenizer --tokenizer-model folder",
};

TEST(DataConstraints, LegalNeighboursPass) {
  for (const char* flags : kLegal) {
    for (const Finding& finding : test::parse_base(flags).findings) {
      EXPECT_EQ(finding.id, ids::kNotYet) << flags << ": " << to_line(finding);
    }
  }
}

}  // namespace constraints_data_test
}  // namespace mpitron::config

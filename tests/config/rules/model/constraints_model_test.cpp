#include <gtest/gtest.h>

#include "config/rule_cases.h"

namespace mpitron::config {
namespace constraints_model_test {

using test::RuleCase;

constexpr RuleCase kBroken[] = {
    {"--seed 0", "E011", "seed = 0"},
    {"--hidden-size 4294967297", "E011", "hidden_size = 4294967297"},
    {"--encoder-num-layers 4", "E012", "both"},
    {"--encoder-seq-length 32", "E013", "both"},
    {"--hidden-size 66", "E014", "66 % 4 = 2"},
    {"--group-query-attention --num-query-groups 3", "E015", "4 % 3 = 1"},
    {"--vocab-size 1000 --padded-vocab-size 999", "E026", "--padded-vocab-size 1024"},
};

TEST(ModelConstraints, EachIsBrokenByItsSmallestExample) {
  test::expect_broken(kBroken);
}

TEST(ModelConstraints, EveryRuleHasAnExample) {
  test::expect_examples(model_constraints(), kBroken);
}

constexpr const char* kLegal[] = {
    "--hidden-size 66 --kv-channels 16",
    "--group-query-attention --num-query-groups 2",
    "--position-embedding-type rope --rotary-percent 0.5 --no-rope-freq 2",
    "--position-embedding-type rope --rotary-percent 0.1",
    "--position-embedding-type rope --rope-type yarn --rotary-scaling-factor 4",
    "--position-embedding-type rope --use-rope-scaling --rope-scaling-factor 32",
    "--bf16 --fp32-residual-connection",
    "--fp16 --fp16-lm-cross-entropy --loss-scale 128",
    "--recompute-granularity full --recompute-method uniform --recompute-num-layers 4",
    "--recompute-granularity selective --recompute-modules core_attn mlp",
};

TEST(ModelConstraints, LegalNeighboursPass) {
  for (const char* flags : kLegal) {
    for (const Finding& finding : test::parse_base(flags).findings) {
      EXPECT_EQ(finding.id, ids::kNotYet) << flags << ": " << to_line(finding);
    }
  }
}

}  // namespace constraints_model_test
}  // namespace mpitron::config

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
    {"--seq-length 64", "E016", "--max-position-embeddings 64"},
    {"--swiglu --squared-relu", "E018", "2 of them"},
    {"--position-embedding-type rope --rotary-percent 0.05", "E019", "int(16 * 0.05) = 0"},
    {"--position-embedding-type rope --kv-channels 5", "E019", "int(5 * 1) = 5"},
    {"--position-embedding-type rope --rotary-percent 1.5", "E019", "= 24"},
    {"--rotary-seq-len-interpolation-factor 0", "E020", "0, 8"},
    {"--use-rope-scaling --rope-type yarn", "E021", "both"},
    {"--position-embedding-type rope --no-rope-freq 3", "E022",
     "--no-rope-freq 2 | --no-rope-freq 4"},
    {"--position-embedding-type rope --no-rope-freq [1,0]", "E022", "2 entries for 4 layers"},
    {"--qk-layernorm --qk-l2-norm", "E023", "both"},
    {"--hidden-dropout 1", "E024", "hidden 1"},
    {"--norm-epsilon 0", "E025", "0, 0.02"},
    {"--vocab-size 1000 --padded-vocab-size 999", "E026", "--padded-vocab-size 1024"},
    {"--fp16 --bf16", "E030", "both"},
    {"--fp16-lm-cross-entropy --bf16", "E031", "--fp16"},
    {"--fp32-residual-connection", "E032", "fp32 already"},
    {"--fp16 --min-loss-scale 0", "E033", "min 0"},
    {"--recompute-granularity full", "E034", "method missing"},
    {"--recompute-granularity full --recompute-method block --recompute-num-layers 5", "E034",
     "5 of 4"},
    {"--recompute-granularity selective --recompute-method block", "E035", "--recompute-method"},
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

#include <gtest/gtest.h>

#include "config/rule_cases.h"

namespace mpitron::config {
namespace constraints_moe_test {

using test::RuleCase;

constexpr RuleCase kBroken[] = {
    {"--num-experts 0", "E130", "num_experts = 0"},
    {"--num-experts 4096", "E130", "num_experts = 4096"},
    {"--num-experts 4 --moe-ffn-hidden-size 0", "E130", "moe_ffn_hidden_size = 0"},
    {"--num-experts 4 --moe-shared-expert-intermediate-size 0", "E130", "intermediate_size = 0"},
    {"--num-experts 4 --moe-layer-freq 0", "E131", "every 0-th"},
    {"--num-experts 4 --moe-layer-freq [1,0]", "E131", "2 entries for 4 layers"},
    {"--num-experts 4 --moe-layer-freq [1,0,2,1]", "E131", "other than 0 and 1"},
    {"--num-experts 4 --moe-layer-freq [0]*4", "E131", "marks no layer"},
    {"--num-experts 4 --moe-expert-capacity-factor 0", "E137", "factor 0"},
    {"--num-experts 4 --moe-pad-expert-input-to-capacity", "E137", "no capacity"},
    {"--num-experts 4 --moe-apply-probs-on-input", "E138", "top-2"},
    {"--num-experts 4 --fp16 --expert-model-parallel-size 2 --world-size 2", "E140", "--bf16"},
};

TEST(MoeConstraints, EachIsBrokenByItsSmallestExample) {
  test::expect_broken(kBroken);
}

TEST(MoeConstraints, EveryRuleHasAnExample) {
  test::expect_examples(moe_constraints(), kBroken);
}

constexpr const char* kLegal[] = {
    "--num-experts 8 --moe-router-topk 8",
    "--num-experts 8 --moe-router-topk 1 --moe-router-pre-softmax --moe-apply-probs-on-input",
    "--num-experts 8 --moe-router-topk 1 --moe-router-load-balancing-type sinkhorn",
    "--num-experts 8 --moe-router-topk 4 --moe-router-num-groups 4 --moe-router-group-topk 2",
    "--num-experts 8 --moe-router-load-balancing-type aux_loss seq_aux_loss "
    "--moe-aux-loss-coeff 0.1 0.2 --moe-z-loss-coeff 0.001",
    "--num-experts 8 --moe-router-score-function sigmoid --moe-router-enable-expert-bias "
    "--moe-router-load-balancing-type none",
    "--num-experts 8 --moe-expert-capacity-factor 1.5 --moe-pad-expert-input-to-capacity "
    "--moe-token-drop-policy position",
};

TEST(MoeConstraints, LegalNeighboursPass) {
  for (const char* flags : kLegal) {
    const std::string all = std::string(flags) + " --disable-bias-linear";
    for (const Finding& finding : test::parse_base(all).findings) {
      ADD_FAILURE() << flags << ": " << to_line(finding);
    }
  }
}

TEST(MoeConstraints, FlagsOfExpertsWithoutExpertsAreNoticed) {
  const ParsedRun parsed = test::parse_base("--moe-aux-loss-coeff 0.1");
  EXPECT_TRUE(parsed.findings.empty()) << test::all_findings(parsed);
  ASSERT_FALSE(parsed.notices.empty());
  EXPECT_NE(parsed.notices.back().find("without --num-experts"), std::string::npos);
}

}  // namespace constraints_moe_test
}  // namespace mpitron::config

#include "config/rule_cases.h"

namespace mpitron::config {
namespace constraints_expert_layout_test {

constexpr test::RuleCase kBroken[] = {
    {"--num-experts 4 --disable-bias-linear --world-size 2 --tensor-model-parallel-size 2", "E142",
     "2 tensor ranks hold the same tokens. Nearest: --sequence-parallel"},
    {"--num-experts 4 --disable-bias-linear --world-size 4 --pipeline-model-parallel-size 2 "
     "--expert-model-parallel-size 2 --use-tp-pp-dp-mapping",
     "E143", "2 and 1"},
    {"--num-experts 4 --disable-bias-linear --world-size 4 --expert-model-parallel-size 4 "
     "--use-distributed-optimizer --num-distributed-optimizer-instances 2",
     "E144", "1 % 2 = 1"},
    {"--num-experts 4 --disable-bias-linear --world-size 2 --expert-tensor-parallel-size 2 "
     "--moe-ffn-hidden-size 31",
     "E145", "31 % 2 = 1. Nearest: --expert-tensor-parallel-size 1"},
    {"--num-experts 4 --disable-bias-linear --expert-model-parallel-size 0", "E146", "0 and 1"},
    {"--num-experts 4 --disable-bias-linear --moe-shared-expert-overlap", "E147",
     "no shared expert"},
    {"--num-experts 4 --disable-bias-linear --moe-shared-expert-overlap "
     "--moe-shared-expert-intermediate-size 8",
     "E147", "allgather. Nearest: --moe-token-dispatcher-type alltoall"},
    {"--num-experts 4 --disable-bias-linear --moe-shared-expert-overlap "
     "--moe-shared-expert-intermediate-size 8 --moe-token-dispatcher-type alltoall "
     "--recompute-granularity selective --recompute-modules shared_experts",
     "E147", "computed again"},
};

TEST(ExpertLayoutConstraints, EachIsBrokenByItsSmallestExample) {
  test::expect_broken(kBroken);
}

TEST(ExpertLayoutConstraints, EveryRuleHasAnExample) {
  test::expect_examples(expert_layout_constraints(), kBroken);
}

constexpr const char* kLegal[] = {
    "--num-experts 4 --disable-bias-linear --world-size 4 --tensor-model-parallel-size 2 "
    "--sequence-parallel --expert-model-parallel-size 4 --expert-tensor-parallel-size 1",
    "--num-experts 4 --disable-bias-linear --world-size 8 --pipeline-model-parallel-size 2 "
    "--context-parallel-size 2 --expert-model-parallel-size 2 --use-tp-pp-dp-mapping",
    "--num-experts 4 --disable-bias-linear --world-size 4 --expert-tensor-parallel-size 2 "
    "--expert-model-parallel-size 2",
    "--num-experts 4 --disable-bias-linear --moe-shared-expert-overlap "
    "--moe-shared-expert-intermediate-size 8 --moe-token-dispatcher-type alltoall",
};

TEST(ExpertLayoutConstraints, LegalNeighboursPass) {
  for (const char* flags : kLegal) {
    for (const Finding& finding : test::parse_base(flags).findings) {
      EXPECT_EQ(finding.id, ids::kNotYet) << flags << ": " << to_line(finding);
    }
  }
}

}  // namespace constraints_expert_layout_test
}  // namespace mpitron::config

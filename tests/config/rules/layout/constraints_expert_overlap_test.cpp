#include <vector>

#include "config/rule_cases.h"

namespace mpitron::config {
namespace constraints_expert_overlap_test {

const std::string kOverlap =
    "--num-experts 4 --disable-bias-linear --bf16 --world-size 4 --expert-model-parallel-size 2 "
    "--moe-token-dispatcher-type alltoall --overlap-moe-expert-parallel-comm ";

/// What breaks a legal run with overlap, and how that is told.
constexpr test::RuleCase kAdded[] = {
    {"--expert-model-parallel-size 1", "E164",
     "on 1 rank. Nearest: --expert-model-parallel-size 2"},
    {"--moe-token-dispatcher-type allgather", "E165", "Nearest: --moe-token-dispatcher-type allto"},
    {"--recompute-granularity full --recompute-method uniform --recompute-num-layers 1", "E167",
     "Nearest: --recompute-granularity selective"},
    {"--moe-shared-expert-intermediate-size 8 --moe-shared-expert-overlap", "E168",
     "leave out --moe-shared-expert-overlap"},
    {"--mtp-num-layers 2", "E169", "2 depths. Nearest: --mtp-num-layers 1"},
    {"--pipeline-model-parallel-size 2", "E170", "--num-virtual-stages-per-pipeline-rank 2"},
    {"--pipeline-model-parallel-size 2 --pipeline-schedule zero-bubble", "E170", "2 stages"},
    {"--use-megatron-fsdp --data-parallel-sharding-strategy optim_grads_params "
     "--use-distributed-optimizer",
     "E171", "Nearest: --data-parallel-sharding-strategy optim"},
    {"--delay-wgrad-compute --pipeline-model-parallel-size 2 "
     "--num-virtual-stages-per-pipeline-rank 2 --defer-embedding-wgrad-compute",
     "E172", "leave out --defer-embedding-wgrad-compute"},
};
constexpr test::RuleCase kAlone[] = {
    {"--overlap-moe-expert-parallel-comm", "E164", "no experts"},
    {"--overlap-moe-expert-parallel-comm", "E166", "the model is in fp32. Nearest: --bf16"},
    {"--delay-wgrad-compute", "E172", "Nearest: --overlap-moe-expert-parallel-comm"},
};

TEST(ExpertOverlapConstraints, EachIsBrokenByItsSmallestExample) {
  test::expect_broken(kAlone);
  for (const test::RuleCase& added : kAdded) {
    const std::string flags = kOverlap + added.flags;
    const test::RuleCase whole{flags.c_str(), added.id, added.in_message};
    test::expect_broken({&whole, 1});
  }
}

TEST(ExpertOverlapConstraints, EveryRuleHasAnExample) {
  std::vector<test::RuleCase> all(std::begin(kAdded), std::end(kAdded));
  all.insert(all.end(), std::begin(kAlone), std::end(kAlone));
  test::expect_examples(expert_overlap_constraints(), all);
}

TEST(ExpertOverlapConstraints, LegalRunsPass) {
  for (const char* flags :
       {"", "--delay-wgrad-compute", "--mtp-num-layers 1 --position-embedding-type rope",
        "--pipeline-model-parallel-size 2 --num-virtual-stages-per-pipeline-rank 2",
        "--recompute-granularity selective --recompute-modules moe_act",
        "--use-distributed-optimizer --overlap-grad-reduce"}) {
    const ParsedRun parsed = test::parse_base(kOverlap + flags);
    EXPECT_TRUE(parsed.findings.empty()) << flags << "\n" << test::all_findings(parsed);
  }
}

}  // namespace constraints_expert_overlap_test
}  // namespace mpitron::config

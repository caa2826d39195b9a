#include <gtest/gtest.h>

#include "config/rule_cases.h"

namespace mpitron::config {
namespace constraints_layout_test {

using test::RuleCase;

constexpr RuleCase kBroken[] = {
    {"--world-size 3 --tensor-model-parallel-size 2", "E070", "3 % 2 = 1"},
    {"--world-size 8 --tensor-model-parallel-size 8", "E071",
     "4 % 8 = 4. Nearest: --tensor-model-parallel-size 4"},
    {"--world-size 4 --tensor-model-parallel-size 4 --group-query-attention --num-query-groups 2 "
     "--kv-channels 3",
     "E072", "2 % 4"},
    {"--world-size 4 --tensor-model-parallel-size 4 --ffn-hidden-size 130", "E073", "130 % 4 = 2"},
    {"--world-size 4 --tensor-model-parallel-size 4 --padded-vocab-size 130", "E074",
     "130 % 4 = 2"},
    {"--world-size 2 --tensor-model-parallel-size 2 --sequence-parallel --seq-length 31", "E075",
     "31 % 2 = 1"},
    {"--distribute-saved-activations", "E094", "full"},
    {"--world-size 2 --tensor-model-parallel-size 2 --tp-comm-overlap", "E100",
     "Nearest: --sequence-parallel"},
    {"--expert-model-parallel-size 2", "E095", "no experts"},
    {"--num-experts 6 --expert-model-parallel-size 4 --world-size 4 --disable-bias-linear", "E095",
     "6 % 4 = 2"},
    {"--num-experts 4 --moe-shared-expert-intermediate-size 64 --moe-use-upcycling", "E096",
     "--disable-bias-linear | no --moe-shared-expert-intermediate-size, no --moe-use-upcycling"},
};

TEST(LayoutConstraints, EachIsBrokenByItsSmallestExample) {
  test::expect_broken(kBroken);
}

TEST(LayoutConstraints, EveryRuleHasAnExample) {
  test::expect_examples(layout_constraints(), kBroken);
}

constexpr const char* kLegal[] = {
    "--world-size 4 --tensor-model-parallel-size 2 --pipeline-model-parallel-size 2 "
    "--sequence-parallel",
    "--world-size 2 --context-parallel-size 2",
    "--num-layers 46 --pipeline-model-parallel-size 4 --world-size 4 "
    "--decoder-first-pipeline-num-layers 11 "
    "--decoder-last-pipeline-num-layers 11",
    "--world-size 2 --pipeline-model-parallel-size 2 --num-virtual-stages-per-pipeline-rank 2",
    "--use-distributed-optimizer --overlap-grad-reduce --overlap-param-gather",
    "--num-experts 8 --expert-model-parallel-size 4 --world-size 4 --disable-bias-linear",
};

TEST(LayoutConstraints, LegalNeighboursPass) {
  for (const char* flags : kLegal) {
    for (const Finding& finding : test::parse_base(flags).findings) {
      EXPECT_EQ(finding.id, ids::kNotYet) << flags << ": " << to_line(finding);
    }
  }
}

}  // namespace constraints_layout_test
}  // namespace mpitron::config

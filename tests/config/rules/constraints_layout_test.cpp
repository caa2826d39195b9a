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
    {"--world-size 2 --context-parallel-size 2 --seq-length 30", "E076", "30 % 4 = 2"},
    {"--world-size 4 --context-parallel-size 4 --hierarchical-context-parallel-sizes 2 3", "E077",
     "2 * 3 = 6"},
    {"--cp-comm-type a2a+p2p", "E077", "with 0 sizes"},
    {"--world-size 8 --context-parallel-size 8 --cp-comm-type a2a+p2p "
     "--hierarchical-context-parallel-sizes 2 2 2",
     "E077", "with 3 sizes"},
    {"--cp-comm-type p2p a2a", "E078", "2 words for 4 layers"},
    {"--world-size 8 --context-parallel-size 8 --cp-comm-type a2a --seq-length 32", "E079",
     "4 % 8 = 4. Nearest: --cp-comm-type p2p"},
    {"--world-size 4 --context-parallel-size 4 --cp-comm-type a2a+p2p "
     "--hierarchical-context-parallel-sizes 2 2 --group-query-attention --num-query-groups 1",
     "E079", "1 % 2 = 1"},
    {"--world-size 2 --context-parallel-size 2 --cp-comm-type a2a --reset-attention-mask", "E101",
     "a2a of documents"},
    {"--overlap-param-gather", "E090", "--use-distributed-optimizer"},
    {"--use-distributed-optimizer --overlap-param-gather-with-optimizer-step", "E099",
     "--overlap-grad-reduce --overlap-param-gather"},
    {"--ddp-bucket-size 1 --ddp-num-buckets 1", "E091", "both"},
    {"--world-size 4 --num-distributed-optimizer-instances 3", "E092", "4 % 3 = 1"},
    {"--ddp-average-in-collective --calculate-per-token-loss", "E093", "both"},
    {"--distribute-saved-activations", "E094", "full"},
    {"--world-size 2 --pipeline-model-parallel-size 2 --pipeline-schedule zero-bubble "
     "--use-megatron-fsdp --data-parallel-sharding-strategy optim_grads_params",
     "E097", "zero-bubble"},
    {"--world-size 4 --num-distributed-optimizer-instances 2 --enable-full-sharding-in-hsdp",
     "E098", "2 instances, strategy no_shard"},
    {"--world-size 2 --tensor-model-parallel-size 2 --tp-comm-overlap", "E100",
     "Nearest: --sequence-parallel"},
    {"--expert-model-parallel-size 2", "E095", "no experts"},
    {"--num-experts 6 --expert-model-parallel-size 4 --world-size 4 --disable-bias-linear", "E095",
     "6 % 4 = 2"},
    {"--num-experts 4 --expert-tensor-parallel-size 2 --moe-router-dtype fp64 --world-size 2",
     "E096", "--disable-bias-linear | --expert-tensor-parallel-size 1, no --moe-router-dtype"},
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

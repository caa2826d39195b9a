#include "config/rule_cases.h"

namespace mpitron::config {
namespace constraints_pipeline_test {

constexpr test::RuleCase kBroken[] = {
    {"--num-layers 46 --pipeline-model-parallel-size 4 --world-size 4", "E017",
     "46 % 4 = 2. Nearest: --pipeline-model-parallel-size 2 | --pipeline-model-parallel-size 23 | "
     "--num-layers 44 | "
     "--num-layers 48"},
    {"--pipeline-model-parallel-size 2 --num-virtual-stages-per-pipeline-rank 3 --world-size 2",
     "E017", "4 % 6"},
    {"--num-virtual-stages-per-pipeline-rank 2 --num-layers-per-virtual-pipeline-stage 1", "E080",
     "2 of them"},
    {"--num-virtual-stages-per-pipeline-rank 2", "E081", "1 stages"},
    {"--world-size 2 --pipeline-model-parallel-size 2 --num-virtual-stages-per-pipeline-rank 2 "
     "--global-batch-size 6",
     "E085", "3 micro batches in groups of 2"},
    {"--pipeline-schedule zero-bubble", "E086", "zero-bubble with 1 stages"},
    {"--world-size 2 --pipeline-model-parallel-size 2 --pipeline-schedule interleaved", "E086",
     "2 stages of 1 chunks"},
    {"--world-size 2 --pipeline-model-parallel-size 2 --num-virtual-stages-per-pipeline-rank 2 "
     "--pipeline-schedule zero-bubble",
     "E086", "--pipeline-schedule interleaved"},
    {"--defer-embedding-wgrad-compute", "E087", "1 stage"},
    {"--wgrad-deferral-limit -1", "E087", "limit -1"},
    {"--world-size 2 --pipeline-model-parallel-size 2 --defer-embedding-wgrad-compute "
     "--pipeline-schedule zero-bubble",
     "E087", "already"},
    {"--world-size 2 --pipeline-model-parallel-size 2 --defer-embedding-wgrad-compute "
     "--no-gradient-accumulation-fusion",
     "E087", "apart"},
};

TEST(PipelineConstraints, EachIsBrokenByItsSmallestExample) {
  test::expect_broken(kBroken);
}

TEST(PipelineConstraints, EveryRuleHasAnExample) {
  test::expect_examples(pipeline_constraints(), kBroken);
}

}  // namespace constraints_pipeline_test
}  // namespace mpitron::config

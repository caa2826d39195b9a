#include <gtest/gtest.h>

#include "config/rule_cases.h"

namespace mpitron::config {
namespace constraints_data_parallel_test {

using test::RuleCase;

constexpr RuleCase kBroken[] = {
    {"--overlap-param-gather", "E090", "--use-distributed-optimizer"},
    {"--use-distributed-optimizer --overlap-param-gather-with-optimizer-step", "E099",
     "--overlap-grad-reduce --overlap-param-gather"},
    {"--ddp-bucket-size 1 --ddp-num-buckets 1", "E091", "both"},
    {"--world-size 4 --num-distributed-optimizer-instances 3", "E092", "4 % 3 = 1"},
    {"--ddp-average-in-collective --calculate-per-token-loss", "E093", "both"},
    {"--world-size 2 --pipeline-model-parallel-size 2 --pipeline-schedule zero-bubble "
     "--use-megatron-fsdp --data-parallel-sharding-strategy optim_grads_params",
     "E097", "zero-bubble"},
    {"--world-size 4 --num-distributed-optimizer-instances 2 --enable-full-sharding-in-hsdp",
     "E098", "2 instances, strategy no_shard"},
};

TEST(DataParallelConstraints, EachIsBrokenByItsSmallestExample) {
  test::expect_broken(kBroken);
}

TEST(DataParallelConstraints, EveryRuleHasAnExample) {
  test::expect_examples(data_parallel_constraints(), kBroken);
}

}  // namespace constraints_data_parallel_test
}  // namespace mpitron::config

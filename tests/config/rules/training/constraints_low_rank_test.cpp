#include <gtest/gtest.h>

#include "config/rule_cases.h"

namespace mpitron::config {
namespace constraints_low_rank_test {

using test::RuleCase;

constexpr RuleCase kBroken[] = {
    {"--lora-rank 0", "E316", "rank 0"},
    {"--lora-rank 4 --lora-dropout 1", "E316", "dropout 1"},
    {"--lora-rank 4 --lora-rank-pattern q_proj", "E316", "q_proj"},
    {"--lora-alpha 3", "E317", "without a rank"},
    {"--lora-rank 3 --load-adapter folder", "E317", "beside --load-adapter"},
    {"--lora-rank 4 --lora-target-modules (q_proj", "E316", "no regular expression"},
    {"--lora-rank 4 --mtp-num-layers 1", "E318", "--mtp-num-layers"},
    {"--lora-rank 4 --freeze-embeddings", "E319", "--freeze-embeddings"},
    {"--lora-base-weights nf4", "E324", "without a rank"},
    {"--lora-rank 4 --lora-base-weights nf4 --hidden-size 128 --num-attention-heads 2 "
     "--ffn-hidden-size 160",
     "E324", "--ffn-hidden-size on a rank 160"},
};

TEST(LowRankConstraints, EachIsBrokenByItsSmallestExample) {
  test::expect_broken(kBroken);
}

TEST(LowRankConstraints, EveryRuleHasAnExample) {
  test::expect_examples(low_rank_constraints(), kBroken);
}

}  // namespace constraints_low_rank_test
}  // namespace mpitron::config

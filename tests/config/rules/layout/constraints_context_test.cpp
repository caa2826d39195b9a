#include <gtest/gtest.h>

#include "config/rule_cases.h"

namespace mpitron::config {
namespace constraints_context_test {

using test::RuleCase;

constexpr RuleCase kBroken[] = {
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
};

TEST(ContextConstraints, EachIsBrokenByItsSmallestExample) {
  test::expect_broken(kBroken);
}

TEST(ContextConstraints, EveryRuleHasAnExample) {
  test::expect_examples(context_constraints(), kBroken);
}

}  // namespace constraints_context_test
}  // namespace mpitron::config

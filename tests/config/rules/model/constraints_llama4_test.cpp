#include <gtest/gtest.h>

#include "config/rule_cases.h"

namespace mpitron::config {
namespace constraints_llama4_test {

using test::RuleCase;

constexpr RuleCase kBroken[] = {
    {"--qk-l2-norm-with-rope-only", "E354", "no --qk-l2-norm"},
    {"--rope-scaling-high-freq-factor 0.5", "E354", "0.5"},
    {"--attention-chunk-size 8", "E355", "no rotation"},
    {"--position-embedding-type rope --attention-chunk-size 0", "E355", "below 1"},
    {"--position-embedding-type rope --attention-chunk-size 8 --window-size 7,0", "E355",
     "--window-size"},
    {"--position-embedding-type rope --attention-chunk-size 8 --multi-latent-attention", "E355",
     "--multi-latent-attention"},
    {"--position-embedding-type rope --attention-chunk-size 8 --mtp-num-layers 1", "E355",
     "--mtp-num-layers"},
    {"--position-embedding-type rope --query-scale-floor 8", "E356", "no layer without rotation"},
    {"--position-embedding-type rope --no-rope-freq 2 --query-scale-floor 0", "E356", "below 1"},
    {"--position-embedding-type rope --no-rope-freq 2 --query-scale-floor 8 "
     "--query-scale-growth 0",
     "E356", "a growth"},
    {"--query-scale-growth 0.2", "E356", "--query-scale-growth alone"},
};

TEST(Llama4Constraints, EachIsBrokenByItsSmallestExample) {
  test::expect_broken(kBroken);
}

TEST(Llama4Constraints, EveryRuleHasAnExample) {
  test::expect_examples(llama4_constraints(), kBroken);
}

TEST(Llama4Constraints, LegalNeighboursPass) {
  const ParsedRun llama = test::parse_base(
      "--position-embedding-type rope --no-rope-freq 2 --attention-chunk-size 8 "
      "--query-scale-floor 8 --query-scale-growth 0.2");
  EXPECT_EQ(test::all_findings(llama), "no findings");
}

}  // namespace constraints_llama4_test
}  // namespace mpitron::config

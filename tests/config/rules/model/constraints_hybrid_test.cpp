#include <gtest/gtest.h>

#include "config/rule_cases.h"

namespace mpitron::config {
namespace constraints_hybrid_test {

using test::RuleCase;

constexpr RuleCase kBroken[] = {
    {"--model mamba --hybrid-override-pattern MXYM-", "E251",
     "'X' at place 2; 'Y' at place 3; 5 letters, 4 layers"},
    {"--model mamba --hybrid-override-pattern MMM", "E251", "3 letters, 4 layers"},
    {"--model mamba --hybrid-override-pattern M* --hybrid-layer-pattern M*", "E252",
     "two patterns"},
    {"--model mamba --hybrid-override-pattern MMM* --hybrid-mlp-ratio 0.5", "E252", "of 'M'"},
    {"--model mamba --hybrid-attention-ratio 2", "E252", "ratios 2"},
    {"--model mamba --hybrid-layer-pattern M*/M|", "E251", "'|' at place 5"},
    {"--model mamba --hybrid-layer-pattern |", "E251", "--hybrid-layer-pattern |: no letters"},
    {"--model mamba --hybrid-layer-pattern /M", "E251", "no letters"},
    {"--model mamba --hybrid-layer-pattern MMM* --hybrid-attention-ratio 0.5", "E252",
     "3 of 'M', by the ratios 2; 1 of '*', by the ratios 2"},
    {"--model mamba --hybrid-layer-pattern *+", "E256", "letters * and +"},
    {"--model mamba --hybrid-layer-pattern *D", "E256", "letters * and D"},
    {"--model mamba --hybrid-layer-pattern *- --multi-latent-attention", "E256", "a letter *"},
    {"--model mamba --hybrid-layer-pattern M|*|- --pipeline-model-parallel-size 2", "E257",
     "3 % 2"},
    {"--model mamba --hybrid-layer-pattern M|* --pipeline-model-parallel-size 2 "
     "--decoder-first-pipeline-num-layers 1",
     "E257", "bars and"},
    {"--model mamba --hybrid-layer-pattern M|* --pipeline-model-parallel-size 4 "
     "--decoder-first-pipeline-num-layers 1 --decoder-last-pipeline-num-layers 1",
     "E257",
     "bars and --decoder-first-pipeline-num-layers, --decoder-last-pipeline-num-layers; 2 % 4"},
    {"--model mamba --hybrid-layer-pattern M*/M/MM", "E258", "'M' and 'MM'"},
    {"--model mamba --hybrid-layer-pattern M*/M --mtp-num-layers 2", "E258", "1 depths"},
    {"--model mamba --hybrid-layer-pattern E*", "E255", "a letter E"},
};

TEST(HybridConstraints, EachIsBrokenByItsSmallestExample) {
  test::expect_broken(kBroken);
}

TEST(HybridConstraints, EveryRuleHasAnExample) {
  test::expect_examples(hybrid_constraints(), kBroken);
}

constexpr const char* kLegal[] = {
    "--model mamba --mamba-head-dim 8 --mamba-num-groups 2",
    "--model mamba --hybrid-override-pattern *-*-",
    "--model mamba --hybrid-layer-pattern *-*- --is-hybrid-model",
    "--model mamba --hybrid-layer-pattern *|-|*-| --num-layers 4",
};

TEST(HybridConstraints, LegalNeighboursPass) {
  for (const char* flags : kLegal) {
    for (const Finding& finding : test::parse_base(flags).findings) {
      ADD_FAILURE() << flags << ": " << to_line(finding);
    }
  }
}

}  // namespace constraints_hybrid_test
}  // namespace mpitron::config

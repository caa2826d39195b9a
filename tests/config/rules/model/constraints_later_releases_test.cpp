#include <gtest/gtest.h>

#include "config/rule_cases.h"

namespace mpitron::config {
namespace constraints_later_releases_test {

using test::RuleCase;

constexpr RuleCase kBroken[] = {
    {"--window-size 7", "E240", "--window-size 7"},
    {"--window-size 7,-2", "E240", "7,-2"},
    {"--model bert --window-size 7,7", "E240", "7,7 in an encoder"},
    {"--window-attn-skip-freq 2", "E240", "no --window-size"},
    {"--window-size 7,0 --window-attn-skip-freq [1]", "E241", "1 entries"},
    {"--window-size 7,0 --window-attn-skip-freq 0", "E241", "every 0-th"},
    {"--quick-geglu --swiglu", "E242", "--quick-geglu"},
    {"--geglu --openai-gelu", "E242", "--geglu"},
    {"--geglu --quick-geglu", "E242", "--quick-geglu"},
    {"--activation-func-clamp-value 7", "E243", "no gated activation"},
    {"--swiglu --activation-func-clamp-value 0", "E243", "clamp 0"},
    {"--multi-latent-attention --attention-output-gate", "E244", "--multi-latent-attention"},
    {"--multi-latent-attention --softmax-type learnable", "E244", "--softmax-type"},
    {"--moe-shared-expert-gate", "E245", "no shared expert"},
    {"--use-mup --mup-embedding-mult -1 --mup-output-mult 0", "E246",
     "--mup-embedding-mult -1; --mup-output-mult 0"},
    {"--use-mup --mup-base-hidden-size 0", "E246", "--mup-base-hidden-size 0"},
};

TEST(LaterReleaseConstraints, EachIsBrokenByItsSmallestExample) {
  test::expect_broken(kBroken);
}

TEST(LaterReleaseConstraints, EveryRuleHasAnExample) {
  test::expect_examples(later_release_constraints(), kBroken);
}

constexpr const char* kLegal[] = {
    "--window-size 7,0 --window-attn-skip-freq 2 --softmax-type off-by-one",
    "--window-size 7,-1",
    "--quick-geglu --activation-func-clamp-value 7 --glu-linear-offset 1",
    "--use-mup --mup-base-hidden-size 8",
    "--optimizer muon --muon-tp-mode blockwise",
    "--optimizer lion --use-distributed-optimizer",
};

TEST(LaterReleaseConstraints, LegalNeighboursPass) {
  for (const char* flags : kLegal) {
    for (const Finding& finding : test::parse_base(flags).findings) {
      ADD_FAILURE() << flags << ": " << to_line(finding);
    }
  }
}

}  // namespace constraints_later_releases_test
}  // namespace mpitron::config

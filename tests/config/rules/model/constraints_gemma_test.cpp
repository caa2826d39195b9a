#include <gtest/gtest.h>

#include "config/rule_cases.h"

namespace mpitron::config {
namespace constraints_gemma_test {

using test::RuleCase;

constexpr RuleCase kBroken[] = {
    {"--model bert --post-mlp-layernorm", "E350", "--model bert"},
    {"--model mamba --hybrid-layer-pattern **** --scale-embeddings", "E350", "layers by letters"},
    {"--model t5 --post-self-attn-layernorm", "E350", "--post-self-attn-layernorm with"},
    {"--position-embedding-type rope --rotary-base-local 10000", "E351", "no window"},
    {"--window-size 7,0 --rotary-base-local 10000", "E351", "no rotary positions"},
    {"--position-embedding-type rope --window-size 7,0 --rotary-base-local 0", "E351",
     "a base below 1"},
    {"--position-embedding-type rope --window-size 7,0 --rotary-base-local 100 "
     "--multi-latent-attention",
     "E351", "attention of another kind"},
    {"--query-pre-attn-scalar 0", "E352", "not above 0"},
    {"--query-pre-attn-scalar 8 --use-mup", "E352", "--use-mup"},
    {"--query-pre-attn-scalar 8 --multi-latent-attention", "E352", "latent attention"},
    {"--attn-logit-softcapping 0", "E353", "not above 0"},
    {"--final-logit-softcapping -1", "E353", "not above 0"},
    {"--model bert --final-logit-softcapping 30", "E353", "an encoder"},
    {"--attn-logit-softcapping 50 --multi-latent-attention", "E353", "--multi-latent-attention"},
    {"--attn-logit-softcapping 50 --qk-clip", "E353", "--qk-clip"},
};

TEST(GemmaConstraints, EachIsBrokenByItsSmallestExample) {
  test::expect_broken(kBroken);
}

TEST(GemmaConstraints, EveryRuleHasAnExample) {
  test::expect_examples(gemma_constraints(), kBroken);
}

TEST(GemmaConstraints, LegalNeighboursPass) {
  const ParsedRun parsed = test::parse_base(
      "--geglu --post-self-attn-layernorm --post-mlp-layernorm --scale-embeddings "
      "--position-embedding-type rope --window-size 7,0 --window-attn-skip-freq 2 "
      "--rotary-base-local 100 --query-pre-attn-scalar 24 --attn-logit-softcapping 50 "
      "--final-logit-softcapping 30");
  EXPECT_EQ(test::all_findings(parsed), "no findings");
}

}  // namespace constraints_gemma_test
}  // namespace mpitron::config

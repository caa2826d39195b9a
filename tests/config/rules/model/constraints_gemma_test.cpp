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
    {"--position-embedding-type rope --attention-chunk-size 8 --qk-clip", "E355", "--qk-clip"},
    {"--position-embedding-type rope --query-scale-floor 8", "E356", "no layer without rotation"},
    {"--position-embedding-type rope --no-rope-freq 2 --query-scale-floor 0", "E356", "below 1"},
    {"--position-embedding-type rope --no-rope-freq 2 --query-scale-floor 8 "
     "--query-scale-growth 0",
     "E356", "a growth"},
    {"--query-scale-growth 0.2", "E356", "--query-scale-growth alone"},
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
  const ParsedRun llama = test::parse_base(
      "--position-embedding-type rope --no-rope-freq 2 --attention-chunk-size 8 "
      "--query-scale-floor 8 --query-scale-growth 0.2");
  EXPECT_EQ(test::all_findings(llama), "no findings");
}

}  // namespace constraints_gemma_test
}  // namespace mpitron::config

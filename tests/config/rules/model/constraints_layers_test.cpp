#include <gtest/gtest.h>

#include "config/rule_cases.h"

namespace mpitron::config {
namespace constraints_layers_test {

using test::RuleCase;

constexpr RuleCase kBroken[] = {
    {"--multi-latent-attention --group-query-attention --num-query-groups 2", "E148",
     "--group-query-attention"},
    {"--multi-latent-attention --qk-l2-norm", "E148", "--qk-l2-norm"},
    {"--multi-latent-attention --rotary-interleaved", "E148", "--rotary-interleaved"},
    {"--multi-latent-attention --kv-channels 8", "E148", "--kv-channels"},
    {"--multi-latent-attention --disable-bias-linear --add-qkv-bias", "E148", "--add-qkv-bias"},
    {"--multi-latent-attention --rope-type rope --use-rope-scaling", "E148", "--use-rope-scaling"},
    {"--multi-latent-attention --rotary-percent 0.5", "E148", "--rotary-percent"},
    {"--multi-latent-attention --q-lora-rank 0", "E149", "--q-lora-rank 0 < 1"},
    {"--multi-latent-attention --qk-pos-emb-head-dim 1", "E149", "--qk-pos-emb-head-dim 1 < 2"},
    {"--recompute-granularity selective --recompute-modules mla_up_proj", "E150",
     "--multi-latent-attention"},
    {"--mtp-num-layers 1", "E151", "--position-embedding-type rope"},
    {"--position-embedding-type rope --mtp-num-layers 99", "E152", "99 depths"},
    {"--position-embedding-type rope --mtp-num-layers 1 --mtp-loss-scaling-factor -1", "E152",
     "factor -1"},
    {"--swiglu --squared-relu", "E018", "2 of them"},
    {"--qk-layernorm --qk-l2-norm", "E023", "both"},
    {"--hidden-dropout 1", "E024", "hidden 1"},
    {"--norm-epsilon 0", "E025", "0, 0.02"},
};

TEST(LayerConstraints, EachIsBrokenByItsSmallestExample) {
  test::expect_broken(kBroken);
}

TEST(LayerConstraints, EveryRuleHasAnExample) {
  test::expect_examples(layer_constraints(), kBroken);
}

constexpr const char* kLegal[] = {
    "--multi-latent-attention",
    "--multi-latent-attention --kv-channels 16",  // as a checkpoint's configuration says it
    "--multi-latent-attention --q-lora-rank 8 --qk-layernorm --rope-type rope --no-rope-freq 2 "
    "--rotary-percent 0.5",
    "--multi-latent-attention --recompute-granularity selective --recompute-modules mla_up_proj",
    "--position-embedding-type none --mtp-num-layers 3",
};

TEST(LayerConstraints, LegalNeighboursPass) {
  for (const char* flags : kLegal) {
    for (const Finding& finding : test::parse_base(flags).findings) {
      ADD_FAILURE() << flags << ": " << to_line(finding);
    }
  }
}

}  // namespace constraints_layers_test
}  // namespace mpitron::config

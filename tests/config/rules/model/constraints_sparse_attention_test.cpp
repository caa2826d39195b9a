#include <gtest/gtest.h>

#include "config/rule_cases.h"

namespace mpitron::config {
namespace constraints_sparse_attention_test {

using test::RuleCase;

constexpr const char* kWhole =
    "--multi-latent-attention --disable-bias-linear --qk-pos-emb-head-dim 8 "
    "--experimental-attention-variant dsa --dsa-indexer-n-heads 2 --dsa-indexer-head-dim 16 "
    "--dsa-indexer-topk 8";

constexpr RuleCase kBroken[] = {
    {"--experimental-attention-variant dsa", "E290", "--dsa-indexer-topk 2048"},
    {"--model mamba --hybrid-layer-pattern D- --dsa-indexer-n-heads -1", "E290",
     "--dsa-indexer-n-heads -1"},
    {"--experimental-attention-variant dsa --dsa-indexer-head-dim 12", "E290",
     "--dsa-indexer-head-dim 64"},
    {"--experimental-attention-variant dsa --dsa-indexer-loss-coeff -1", "E290",
     "loss coefficient -1"},
    {"--experimental-attention-variant dsa", "E291", "no --multi-latent-attention; biases"},
    {"--model bert --experimental-attention-variant dsa", "E291", "an encoder"},
    {"--experimental-attention-variant dsa --context-parallel-size 2 --device cuda", "E292",
     "--context-parallel-size; --device cuda"},
    {"--experimental-attention-variant dsa --window-size 7,0", "E292", "--window-size"},
    {"--experimental-attention-variant dsa --attention-chunk-size 8", "E292",
     "--attention-chunk-size"},
};

TEST(SparseAttentionConstraints, EachIsBrokenByItsSmallestExample) {
  test::expect_broken(kBroken);
}

TEST(SparseAttentionConstraints, EveryRuleHasAnExample) {
  test::expect_examples(sparse_attention_constraints(), kBroken);
}

TEST(SparseAttentionConstraints, AWholeModelBreaksNone) {
  const ParsedRun parsed = test::parse_base(kWhole);
  EXPECT_TRUE(parsed.findings.empty()) << test::all_findings(parsed);
  EXPECT_EQ(parsed.run.model.indexer->topk, 8);
}

}  // namespace constraints_sparse_attention_test
}  // namespace mpitron::config

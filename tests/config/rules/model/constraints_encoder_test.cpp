#include <gtest/gtest.h>

#include "config/rule_cases.h"

namespace mpitron::config {
namespace constraints_encoder_test {

using test::RuleCase;

constexpr RuleCase kBroken[] = {
    {"--bert-no-binary-head", "E153", "bert_binary_head (of bert)"},
    {"--mask-prob 0.2", "E153", "mask_prob (of bert and t5)"},
    {"--model bert --decoder-seq-length 8", "E153", "decoder_seq_length (of t5)"},
    {"--model bert --mtp-num-layers 1", "E154", "mtp_num_layers"},
    {"--model bert --reset-attention-mask", "E154", "reset_attention_mask"},
    {"--model bert --qk-layernorm", "E154", "qk_layernorm"},
    {"--model t5 --decoder-seq-length 8 --position-embedding-type rope --use-rope-scaling", "E154",
     "use_rope_scaling"},
    {"--model t5 --decoder-seq-length 8 --position-embedding-type rope --rotary-base 500", "E154",
     "rotary_base"},
    {"--model t5 --decoder-seq-length 8 --world-size 2 --context-parallel-size 2", "E155",
     "2 ranks. Nearest: --context-parallel-size 1"},
    {"--model bert --calculate-per-token-loss", "E158", "means of microbatches"},
    {"--model t5 --decoder-seq-length 8 --untie-embeddings-and-output-weights", "E158", "tied"},
    {"--model bert --mask-prob 0", "E158", "mask_prob 0"},
};

TEST(EncoderConstraints, EachIsBrokenByItsSmallestExample) {
  test::expect_broken(kBroken);
}

TEST(EncoderConstraints, EveryRuleHasAnExample) {
  test::expect_examples(encoder_constraints(), kBroken);
}

constexpr const char* kLegal[] = {
    "--model bert",
    "--model bert --bert-no-binary-head --mask-prob 0.2 --short-seq-prob 0 "
    "--untie-embeddings-and-output-weights",
    "--model bert --world-size 4 --tensor-model-parallel-size 2 --sequence-parallel "
    "--pipeline-model-parallel-size 2",
    "--model t5 --decoder-seq-length 8 --decoder-num-layers 4",
    "--model t5 --decoder-seq-length 8 --position-embedding-type relative",
    "--model t5 --decoder-seq-length 8 --world-size 8 --pipeline-model-parallel-size 8",
};

TEST(EncoderConstraints, LegalNeighboursPass) {
  for (const char* flags : kLegal) {
    for (const Finding& finding : test::parse_base(flags).findings) {
      ADD_FAILURE() << flags << ": " << to_line(finding);
    }
  }
}

}  // namespace constraints_encoder_test
}  // namespace mpitron::config

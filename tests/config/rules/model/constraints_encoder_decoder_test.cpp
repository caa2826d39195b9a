#include <gtest/gtest.h>

#include "config/rule_cases.h"

namespace mpitron::config {
namespace constraints_encoder_decoder_test {

using test::RuleCase;

constexpr RuleCase kBroken[] = {
    {"--model t5", "E156", "decoder_seq_length 0"},
    {"--model t5 --decoder-seq-length 4000", "E156", "decoder_seq_length 4000"},
    {"--model t5 --decoder-seq-length 8 --decoder-num-layers 3", "E156", "3 of the decoder"},
    {"--model t5 --decoder-seq-length 8 --world-size 4 --tensor-model-parallel-size 4 "
     "--group-query-attention --num-query-groups 2",
     "E156", "2 query groups on 4 tensor ranks"},
    {"--model t5 --decoder-seq-length 9 --world-size 2 --tensor-model-parallel-size 2 "
     "--sequence-parallel",
     "E156", "9 % 2 = 1"},
    {"--position-embedding-type relative", "E157", "--model gpt"},
    {"--model t5 --decoder-seq-length 8 --position-embedding-type relative --world-size 2 "
     "--pipeline-model-parallel-size 2",
     "E157", "one stage"},
    {"--model t5 --decoder-seq-length 8 --position-embedding-type relative "
     "--relative-attention-num-buckets 6",
     "E157", "6 buckets"},
};

TEST(EncoderDecoderConstraints, EachIsBrokenByItsSmallestExample) {
  test::expect_broken(kBroken);
}

TEST(EncoderDecoderConstraints, EveryRuleHasAnExample) {
  test::expect_examples(encoder_decoder_constraints(), kBroken);
}

}  // namespace constraints_encoder_decoder_test
}  // namespace mpitron::config

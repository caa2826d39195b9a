#include <gtest/gtest.h>

#include "config/rule_cases.h"

namespace mpitron::config {
namespace {

using test::RuleCase;

constexpr RuleCase kBroken[] = {
    {"--train-samples 160", "E040", "both are given"},
    {"--lr-warmup-samples 32", "E041", "--lr-warmup-samples given"},
    {"--rampup-batch-size 2 2 24", "E041", "--rampup-batch-size given"},
    {"--train-samples 160 --lr-decay-iters 3", "E042", "--lr-decay-iters given"},
    {"--log-interval 0", "E043", "log_interval = 0"},
    {"--eval-iters -1", "E043", "eval_iters = -1"},
    {"--global-batch-size 7", "E044",
     "7 % (2 * 1) = 1. Nearest: --global-batch-size 6 | --global-batch-size 8"},
    {"--rampup-batch-size 2 2", "E045", "2 2"},
    {"--rampup-batch-size 2 x 24", "E045", "2 x 24"},
    {"--rampup-batch-size 2 4 24", "E046", "(8 - 2) % 4 = 2"},
    {"--rampup-batch-size 3 5 24", "E047", "3 % 2 = 1"},
    {"--min-lr 1", "E048", "min_lr 1"},
    {"--lr-warmup-fraction 0.1 --lr-warmup-iters 2", "E049", "--lr-warmup-iters given"},
    {"--lr-warmup-iters 20", "E050", "160 >= 160"},
    {"--lr-decay-style WSD", "E051", "--lr-wsd-decay-iters N"},
    {"--start-weight-decay 0.1", "E052", "constant style, start 0.1"},
    {"--weight-decay-incr-style linear --start-weight-decay 0.1", "E052", "end missing"},
    {"--decoupled-min-lr 0.1", "E053", "--decoupled-lr is missing"},
    {"--adam-beta2 1", "E054", "0.9 1"},
    {"--data-path a --mock-data", "E060", "2 sources"},
    {"--data-path a --data-args-path /no/such/file", "E061", "both"},
    {"--data-path a --split 0,0,0", "E062", "0,0,0"},
    {"--data-path a --split 1,x", "E062", "1,x"},
    {"--train-data-path a --split 1,1,1", "E062", "split already"},
    {"--multiple-validation-sets", "E063", "--full-validation"},
    {"--tokenizer-type NullTokenizer", "E064", "--vocab-size N"},
    {"--tokenizer-type GPT2BPETokenizer --vocab-file v", "E064", "--merge-file"},
    {"--tokenizer-type BertWordPieceCase", "E064", "--vocab-file vocab.txt"},
    {"--tokenizer-type HuggingFaceTokenizer", "E064", "--tokenizer-model FILE"},
    {"--deterministic-mode --use-flash-attn", "E065", "flash"},
    {"--profile --profile-step-start 5 --profile-step-end 5", "E066", "5 <= 5"},
};

TEST(RunConstraints, EachIsBrokenByItsSmallestExample) {
  test::expect_broken(kBroken);
}

TEST(RunConstraints, EveryRuleHasAnExample) {
  test::expect_examples(run_constraints(), kBroken);
}

constexpr const char* kLegal[] = {
    "--global-batch-size 7 --decrease-batch-size-if-needed",
    "--lr-warmup-iters 19",
    "--lr-warmup-fraction 0.5 --min-lr 0.002",
    "--lr-decay-style WSD --lr-wsd-decay-iters 20",
    "--weight-decay-incr-style cosine --start-weight-decay 0.1 --end-weight-decay 0.1",
    "--decoupled-lr 0.1 --decoupled-min-lr 0.01",
    "--full-validation --multiple-validation-sets --train-data-path a --valid-data-path b c",
    "--data-path 0.5 a 0.5 b --split 8,1,1",
    "--eval-interval 0 --eval-iters 0",
    "--deterministic-mode",
};

TEST(RunConstraints, LegalNeighboursPass) {
  for (const char* flags : kLegal) {
    for (const Finding& finding : test::parse_base(flags).findings) {
      EXPECT_EQ(finding.id, ids::kNotYet) << flags << ": " << to_line(finding);
    }
  }
}

}  // namespace
}  // namespace mpitron::config

#include <gtest/gtest.h>

#include "config/rule_cases.h"

namespace mpitron::config {
namespace constraints_finetuning_test {

using test::RuleCase;

constexpr const char* kLegal[] = {
    "--data-path a.jsonl --sft --tokenizer-type SFTTokenizer --tokenizer-model folder "
    "--sft-packing --calculate-per-token-loss --sft-last-turn-only",
    "--freeze-layers 1-4 --freeze-embeddings",
    "--freeze-layers 2",
    "--lora-rank 4 --lora-alpha 8 --lora-target-modules q_proj,v_proj --lora-rslora "
    "--lora-rank-pattern layers.1.self_attn.q_proj=3",
    "--load-adapter folder",
    "--lora-rank 4 --lora-base-weights nf4 --hidden-size 128 --num-attention-heads 2 "
    "--ffn-hidden-size 192",
    "--data-path a.jsonl --sft --dpo --dpo-length-normalized --tokenizer-type SFTTokenizer "
    "--tokenizer-model folder",
    "--teacher-file x --distillation-temperature 2",
};

constexpr RuleCase kBroken[] = {
    {"--sft-packing --calculate-per-token-loss", "E310", "--sft-packing without --sft"},
    {"--sft --sft-train-on-prompt --sft-last-turn-only", "E311", "both"},
    {"--sft --sft-packing", "E312", "--calculate-per-token-loss"},
    {"--sft --sft-packing --mtp-num-layers 1", "E313", "--mtp-num-layers"},
    {"--freeze-layers 0-2", "E314", "--freeze-layers 1-4"},
    {"--freeze-layers 3-5", "E314", "3-5"},
    {"--freeze-layers x", "E314", "x"},
    {"--freeze-embeddings --use-megatron-fsdp "
     "--data-parallel-sharding-strategy optim_grads_params",
     "E315", "pieces"},
    {"--dpo", "E310", "--dpo without --sft"},
};

TEST(FinetuningConstraints, EachIsBrokenByItsSmallestExample) {
  test::expect_broken(kBroken);
}

TEST(FinetuningConstraints, EveryRuleHasAnExample) {
  test::expect_examples(finetuning_constraints(), kBroken);
}

TEST(FinetuningConstraints, LegalNeighboursPass) {
  for (const char* flags : kLegal) {
    for (const Finding& finding : test::parse_base(flags).findings) {
      EXPECT_EQ(finding.id, ids::kNotYet) << flags << ": " << to_line(finding);
    }
  }
}

}  // namespace constraints_finetuning_test
}  // namespace mpitron::config

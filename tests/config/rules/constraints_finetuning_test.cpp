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
    {"--lora-rank 0", "E316", "rank 0"},
    {"--lora-rank 4 --lora-dropout 1", "E316", "dropout 1"},
    {"--lora-rank 4 --lora-rank-pattern q_proj", "E316", "q_proj"},
    {"--lora-alpha 3", "E317", "without a rank"},
    {"--lora-rank 3 --load-adapter folder", "E317", "beside --load-adapter"},
    {"--lora-rank 4 --lora-target-modules (q_proj", "E316", "no regular expression"},
    {"--lora-rank 4 --mtp-num-layers 1", "E318", "--mtp-num-layers"},
    {"--lora-rank 4 --freeze-embeddings", "E319", "--freeze-embeddings"},
    {"--dpo", "E310", "--dpo without --sft"},
    {"--dpo-beta 0.3", "E320", "without --dpo"},
    {"--sft --dpo --sft-train-on-prompt", "E320", "--sft-train-on-prompt"},
    {"--sft --dpo --dpo-beta 0", "E321", "--dpo-beta 0"},
    {"--teacher-top-k 3", "E322", "without a teacher"},
    {"--teacher-output x --context-parallel-size 2", "E322", "--context-parallel-size"},
    {"--teacher-file x --distillation-weight 2", "E323", "out of range"},
    {"--lora-base-weights nf4", "E324", "without a rank"},
    {"--lora-rank 4 --lora-base-weights nf4 --hidden-size 128 --num-attention-heads 2 "
     "--ffn-hidden-size 160",
     "E324", "--ffn-hidden-size on a rank 160"},
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

#include <gtest/gtest.h>

#include "config/rule_cases.h"

namespace mpitron::config {
namespace constraints_language_part_test {

using test::RuleCase;

constexpr RuleCase kBroken[] = {
    {"--model vlm --mtp-num-layers 1", "E269", "mtp_num_layers"},
    {"--model vlm --img-h 32 --img-w 32 --patch-dim 8 --encoder-num-layers 2 "
     "--packing-buffer-size 4 --packing-seq-length 8",
     "E274", "packing_seq_length 8"},
    {"--model vlm --img-h 32 --img-w 32 --patch-dim 8 --encoder-num-layers 2 "
     "--mm-tokens-per-image 4",
     "E357", "--vision-projection-type mlp"},
    {"--model vlm --img-h 32 --img-w 32 --patch-dim 8 --encoder-num-layers 2 "
     "--vision-projection-type pooled --mm-tokens-per-image 9",
     "E357", "4 x 4 patches, mm_tokens_per_image 9"},
    {"--model vlm --img-h 32 --img-w 32 --patch-dim 8 --encoder-num-layers 2 "
     "--vision-projection-type pooled --mm-tokens-per-image 4 --pixel-shuffle",
     "E357", "with --pixel-shuffle"},
    {"--model vlm --img-h 32 --img-w 32 --patch-dim 8 --encoder-num-layers 2 "
     "--bidirectional-image-attention --world-size 2 --context-parallel-size 2",
     "E358", "context parallelism"},
    {"--model vlm --img-h 32 --img-w 32 --patch-dim 8 --encoder-num-layers 2 "
     "--bidirectional-image-attention --device cuda",
     "E358", "a GPU"},
    {"--model vlm --img-h 32 --img-w 32 --patch-dim 8 --encoder-num-layers 2 "
     "--vision-model-type qwen2_vl --vision-hidden-size 36 --vision-num-attention-heads 6",
     "E378", "heads of 6"},
    {"--model vlm --img-h 32 --img-w 32 --patch-dim 8 --encoder-num-layers 2 "
     "--vision-model-type llama4 --vision-projection-type adapter",
     "E386", "without its width"},
    {"--model vlm --img-h 32 --img-w 32 --patch-dim 8 --encoder-num-layers 2 --world-size 2 "
     "--tensor-model-parallel-size 2 --vision-projection-ffn-hidden-size 33",
     "E386", "vision_projection_ffn_hidden_size 33"},
    {"--model vlm --img-h 32 --img-w 32 --patch-dim 8 --encoder-num-layers 2 "
     "--image-tag-type llama4 --use-tiling --max-num-tiles 2",
     "E387", "with --use-tiling"},
};

TEST(LanguagePartConstraints, EachIsBrokenByItsSmallestExample) {
  test::expect_broken(kBroken);
}

TEST(LanguagePartConstraints, EveryRuleHasAnExample) {
  test::expect_examples(language_part_constraints(), kBroken);
}

}  // namespace constraints_language_part_test
}  // namespace mpitron::config

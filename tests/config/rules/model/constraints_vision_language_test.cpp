#include <gtest/gtest.h>

#include "config/rule_cases.h"

namespace mpitron::config {
namespace constraints_vision_language_test {

using test::RuleCase;

constexpr RuleCase kBroken[] = {
    {"--pixel-shuffle", "E267", "--model gpt is given pixel_shuffle"},
    {"--model vlm --img-h 32 --img-w 32 --patch-dim 8", "E268", "0 layers of the encoder"},
    {"--model vlm --img-h 32 --img-w 32 --patch-dim 8 --encoder-num-layers 2 --seq-length 16",
     "E268", "17 positions of an image"},
    {"--model vlm --img-h 32 --img-w 32 --patch-dim 8 --encoder-num-layers 2 --max-num-tiles 4",
     "E272", "without use_tiling"},
    {"--model vlm --img-h 32 --img-w 32 --patch-dim 8 --encoder-num-layers 2 --use-tiling "
     "--max-num-tiles 7 --use-tile-tags",
     "E272", "max_num_tiles 7"},
    {"--model vlm --img-h 32 --img-w 32 --patch-dim 8 --encoder-num-layers 2 --world-size 2 "
     "--tensor-model-parallel-size 2 --vision-hidden-size 48 --vision-num-attention-heads 3",
     "E273", "3 heads"},
};

TEST(VisionLanguageConstraints, EachIsBrokenByItsSmallestExample) {
  test::expect_broken(kBroken);
}

TEST(VisionLanguageConstraints, EveryRuleHasAnExample) {
  test::expect_examples(vision_language_constraints(), kBroken);
}

}  // namespace constraints_vision_language_test
}  // namespace mpitron::config

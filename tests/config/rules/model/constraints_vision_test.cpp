#include <gtest/gtest.h>

#include "config/rule_cases.h"

namespace mpitron::config {
namespace constraints_vision_test {

using test::RuleCase;

constexpr RuleCase kBroken[] = {
    {"--model vit --img-h 33 --patch-dim 8", "E262", "--img-h 32 | --img-h 40"},
    {"--model vit --patch-dim 0", "E262", "patches of 0"},
    {"--model vit --num-channels 1", "E262", "num_channels 1"},
    {"--model vit --img-h 32 --img-w 32 --patch-dim 8", "E263", "--seq-length 24"},
    {"--model vit --num-classes 0", "E264", "0 classes"},
    {"--model vit --vision-pretraining-type inpaint --img-h 32 --img-w 16", "E264", "32 x 16"},
    {"--model vit --vision-pretraining-type inpaint --mask-factor 0.001", "E264", "mask_factor"},
    {"--model vit --swiglu", "E265", "swiglu"},
    {"--model vit --calculate-per-token-loss", "E265", "calculate_per_token_loss"},
    {"--model vit --world-size 2 --pipeline-model-parallel-size 2 --defer-embedding-wgrad-compute",
     "E265", "defer_embedding_wgrad_compute"},
    {"--model vit --data-path a b c d", "E266", "4 folders"},
    {"--model vit --classes-fraction 0", "E266", "classes_fraction 0"},
    {"--model vit --train-data-path a", "E266", "per split"},
};

TEST(VisionConstraints, EachIsBrokenByItsSmallestExample) {
  test::expect_broken(kBroken);
}

TEST(VisionConstraints, EveryRuleHasAnExample) {
  test::expect_examples(vision_constraints(), kBroken);
}

constexpr const char* kImages =
    "--num-layers 4 --hidden-size 64 --num-attention-heads 4 --micro-batch-size 2 "
    "--global-batch-size 8 --train-iters 20 --lr 0.002 --model vit --img-h 32 --img-w 32 "
    "--patch-dim 8 ";

TEST(VisionConstraints, LegalNeighboursPass) {
  for (const char* more :
       {"",
        "--num-classes 5 --head-lr-mult 10 --class-head linear --classes-fraction 0.5 --data-path "
        "a b",
        "--vision-pretraining-type inpaint --mask-type row --mask-factor 0.5",
        "--vision-pretraining-type dino --dino-local-img-size 16 --dino-local-crops-number 3",
        "--world-size 4 --tensor-model-parallel-size 2 --sequence-parallel "
        "--pipeline-model-parallel-size 2"}) {
    for (const Finding& finding : test::parse_text(std::string(kImages) + more).findings) {
      ADD_FAILURE() << more << ": " << to_line(finding);
    }
  }
}

TEST(VisionConstraints, LengthsFollowFromTheImage) {
  const std::string images = kImages;
  const RunConfig run = test::parse_text(kImages).run;
  EXPECT_EQ(run.model.seq_length, 8 + 16);
  EXPECT_EQ(run.model.max_position_embeddings, 24);
  EXPECT_EQ(run.data.dataloader_type, DataloaderType::cyclic);
  const RunConfig inpaint = test::parse_text(images + "--vision-pretraining-type inpaint").run;
  EXPECT_EQ(inpaint.model.seq_length, 16);
}

}  // namespace constraints_vision_test
}  // namespace mpitron::config

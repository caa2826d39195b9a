#include <gtest/gtest.h>

#include "config/flags.h"

namespace mpitron::config {
namespace resolve_vision_test {

using test::parse_base;

const std::string kVlm =
    "--model vlm --img-h 32 --img-w 32 --patch-dim 8 --encoder-num-layers 2 --seq-length 128 ";

TEST(ResolveVision, DinoHasItsConfigurationAndDropsPaths) {
  const std::string dino = "--model vit --vision-pretraining-type dino ";
  const ModelConfig model = parse_base(dino + "--dino-norm-last-layer").run.model;
  ASSERT_TRUE(model.vision.dino);
  EXPECT_TRUE(model.vision.dino->fixed_norm);
  EXPECT_EQ(model.vision.dino->iterations, 20);
  EXPECT_EQ(model.drop_path, 0.1);
  EXPECT_EQ(parse_base(dino + "--drop-path-rate 0").run.model.drop_path, 0);
  EXPECT_FALSE(parse_base("--model vit").run.model.vision.dino);
  EXPECT_EQ(parse_base("--model vit").run.model.drop_path, 0);
}

TEST(ResolveVision, TowersHaveTheirOwnSizesWhereAsked) {
  EXPECT_FALSE(parse_base(kVlm).run.model.vlm->tower_sizes);
  const TowerSizes siglip =
      *parse_base(kVlm + "--vision-model-type siglip --language-model-type mistral_7b")
           .run.model.vlm->tower_sizes;
  EXPECT_EQ(siglip.hidden_size, 1152);
  EXPECT_EQ(siglip.activation, ActivationKind::gelu_tanh);
  const VlmConfig llama4 =
      *parse_base(kVlm +
                  "--vision-model-type llama4 --language-model-type llama4 --image-tag-type llama4 "
                  "--vision-projection-type adapter --vision-projection-ffn-hidden-size 4096")
           .run.model.vlm;
  EXPECT_EQ(llama4.tower_sizes->head_size, 88);
  EXPECT_EQ(llama4.projector, ProjectorKind::adapter);
  EXPECT_EQ(llama4.image_tags, ImageTags::llama4);
  const TowerSizes own =
      *parse_base(kVlm + "--vision-hidden-size 48 --vision-num-attention-heads 4")
           .run.model.vlm->tower_sizes;
  EXPECT_EQ(own.head_size, 12);
  EXPECT_EQ(own.ffn_hidden_size, 192);
  EXPECT_EQ(own.activation, ActivationKind::quick_gelu);
}

/// Gradients that are reduced when they are complete must be there on all replicas.
TEST(ResolveVision, FullShardingRunsTheEncoderWithoutImagesToo) {
  for (const auto& [strategy, runs] : {std::pair("optim", false), std::pair("optim_grads", true),
                                       std::pair("optim_grads_params", true)}) {
    const std::string sharded = std::string("--use-megatron-fsdp --use-distributed-optimizer ") +
                                "--data-parallel-sharding-strategy " + strategy;
    EXPECT_EQ(parse_base(kVlm + sharded).run.model.vlm->tower_always_runs, runs) << strategy;
  }
}

TEST(ResolveVision, TilesLeaveTheTextWhatTheyDoNotTake) {
  EXPECT_EQ(parse_base(kVlm).run.model.vlm->text_length, 128 - 17 + 1);
  const VlmConfig tiled =
      *parse_base(kVlm + "--use-tiling --max-num-tiles 3 --use-thumbnail").run.model.vlm;
  EXPECT_EQ(tiled.most_tiles(), 4);
  EXPECT_EQ(tiled.text_length, 128 - 4 * 17 + 1);
  const ModelConfig packed = parse_base(kVlm + "--packing-buffer-size 8").run.model;
  EXPECT_EQ(packed.vlm->text_length, 128);
  EXPECT_TRUE(packed.reset_attention_mask);
}

}  // namespace resolve_vision_test
}  // namespace mpitron::config

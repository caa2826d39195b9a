#include "nn/base/builder.h"

#include <cmath>

#include <gtest/gtest.h>

namespace mpitron::nn {
namespace builder_test {

using Kind = autograd::Initialization::Kind;

class BuilderTest : public ::testing::Test {
 protected:
  BuilderTest() {
    config_.num_layers = 8;
    config_.init_method_std = 0.02;
  }
  config::ModelConfig config_;
  autograd::ParameterList parameters_;
  const comm::ParallelGroups groups_ = comm::groups_of_one(*comm::make_single_world());
  const Builder builder_{{config_, groups_, parameters_}, "decoder."};
};

TEST_F(BuilderTest, WeightsStartAsTheReferences) {
  const Parameter& in = builder_.linear_weight("linear_qkv.weight", 12, 4);
  EXPECT_EQ(in.name, "decoder.linear_qkv.weight");
  EXPECT_EQ(in.shape, (Shape{12, 4}));
  EXPECT_EQ(in.initialization.kind, Kind::normal);
  EXPECT_EQ(in.initialization.std, 0.02);
  EXPECT_TRUE(in.role.linear_weight);
  EXPECT_FALSE(in.role.embedding_or_output);
  // Layers that write into the residual stream: std / sqrt(2 L).
  EXPECT_DOUBLE_EQ(builder_.output_weight("linear_proj.weight", 4, 4).initialization.std, 0.005);
}

/// Rank 1 of 2 with a cut sequence: columns of output layers, and who has a part of a gradient.
TEST_F(BuilderTest, ARankOfTwoHasItsShards) {
  comm::ParallelGroups groups = groups_;
  groups.tensor = comm::make_fake_world(1, 2)->all();
  groups.sequence_parallel = true;
  const Builder builder({config_, groups, parameters_}, "decoder.");
  using Ranges = std::vector<tensor::Shard::Range>;
  const tensor::Shard gated = builder.piece(0, 8, 2);
  EXPECT_EQ(gated.ranges, (Ranges{{2, 4}, {6, 8}}));
  EXPECT_EQ(builder.linear_weight("fc1", 8, 4, gated).placement.shard, gated);
  EXPECT_EQ(builder.output_weight("fc2", 4, 8).placement.shard, (tensor::Shard{1, {{4, 8}}}));
  EXPECT_FALSE(builder.bias("fc1_bias", 8, true, gated)->placement.sum_over_tensor);
  EXPECT_TRUE(builder.output_bias("fc2_bias", 4, true)->placement.sum_over_tensor);
  EXPECT_EQ(builder.output_bias("absent", 4, false), nullptr);
  EXPECT_TRUE(builder.norm_weight("norm", 4).placement.sum_over_tensor);
  groups.sequence_parallel = false;  // every rank then norms all rows
  EXPECT_FALSE(builder.norm_bias("norm_bias", 4).placement.sum_over_tensor);
}

TEST_F(BuilderTest, EmbeddingsMayHaveTheirOwnDeviation) {
  EXPECT_EQ(builder_.embedding("a", 10, 4).initialization.std, 0.02);
  config_.embedding_init_method_std = 1.0;
  const Parameter& words = builder_.embedding("b", 10, 4);
  EXPECT_EQ(words.initialization.std, 1.0);
  EXPECT_FALSE(words.role.linear_weight);
}

TEST_F(BuilderTest, XavierReplacesTheNormalStartOfLinearWeightsOnly) {
  config_.init_method_xavier_uniform = true;
  EXPECT_EQ(builder_.linear_weight("a", 4, 4).initialization.kind, Kind::xavier_uniform);
  EXPECT_EQ(builder_.output_weight("b", 4, 4).initialization.kind, Kind::xavier_uniform);
  EXPECT_EQ(builder_.embedding("c", 4, 4).initialization.kind, Kind::normal);
}

TEST_F(BuilderTest, BiasesStartAtZeroAndNormsAtOne) {
  EXPECT_EQ(builder_.bias("bias", 4, true)->initialization.kind, Kind::zeros);
  EXPECT_EQ(builder_.bias("absent", 4, false), nullptr);
  EXPECT_EQ(builder_.norm_weight("weight", 4).initialization.kind, Kind::ones);
  EXPECT_EQ(builder_.norm_bias("norm_bias", 4).initialization.kind, Kind::zeros);
  EXPECT_EQ(parameters_.size(), 3u);
  config_.apply_layernorm_1p = true;
  EXPECT_EQ(builder_.norm_weight("zero_centred", 4).initialization.kind, Kind::zeros);
}

TEST_F(BuilderTest, ChildrenNameWhatIsBelowThem) {
  builder_.child("layers.3").child("mlp").linear_weight("linear_fc1.weight", 4, 4);
  EXPECT_NE(parameters_.find("decoder.layers.3.mlp.linear_fc1.weight"), nullptr);
}

}  // namespace builder_test
}  // namespace mpitron::nn

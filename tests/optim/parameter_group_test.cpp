#include "optim/parameter_group.h"

#include <gtest/gtest.h>

#include "utils/error.h"

namespace mpitron::optim {
namespace parameter_group_test {

const ParameterGroupOptions kPlain{.bounds = {.max_lr = 1e-3, .min_lr = 1e-5}};

TEST(ParameterGroup, NoWeightDecayForBiasesAndVectors) {
  const auto wd = [](std::string_view name, int rank) {
    return parameter_group_key({.name = name, .rank = rank}, kPlain).wd_mult;
  };
  EXPECT_EQ(wd("decoder.layers.0.mlp.linear_fc1.weight", 2), 1.0);
  EXPECT_EQ(wd("decoder.layers.0.mlp.linear_fc1.bias", 1), 0.0);
  EXPECT_EQ(wd("decoder.layers.0.mlp.experts.bias", 2), 0.0);
  EXPECT_EQ(wd("decoder.final_layernorm.weight", 1), 0.0);
  EXPECT_EQ(wd("embedding.word_embeddings.weight", 2), 1.0);
  EXPECT_EQ(wd("relative_bias_table", 2), 1.0);
}

TEST(ParameterGroup, EmbeddingOptionSkipsWeightDecay) {
  ParameterGroupOptions options = kPlain;
  options.skip_embedding_weight_decay = true;
  EXPECT_EQ(parameter_group_key({.name = "embedding.word_embeddings.weight"}, options).wd_mult,
            0.0);
  EXPECT_EQ(parameter_group_key({.name = "output_layer.weight"}, options).wd_mult, 1.0);
}

TEST(ParameterGroup, Multipliers) {
  ParameterGroupOptions options = kPlain;
  options.head_lr_mult = 10.0;
  EXPECT_EQ(parameter_group_key({.name = "head.weight", .scale_lr = true}, options),
            (ParameterGroupKey{.wd_mult = 1.0, .lr_mult = 10.0}));
  EXPECT_EQ(parameter_group_key({.name = "head.bias", .rank = 1, .scale_lr = true}, options),
            (ParameterGroupKey{.wd_mult = 0.0, .lr_mult = 10.0}));
  EXPECT_TRUE(parameter_group_key({.name = "w", .is_expert = true}, options).is_expert);
}

TEST(ParameterGroup, MuonAndSoapTakeMatricesThatAreNoEmbedding) {
  ParameterGroupOptions options = kPlain;
  const ParameterTraits matrix{.name = "w", .rank = 2}, vector{.name = "n", .rank = 1};
  EXPECT_FALSE(parameter_group_key(matrix, options).takes_matrix_rule);
  for (const auto kind : {config::OptimizerKind::muon, config::OptimizerKind::soap}) {
    options.optimizer = kind;
    EXPECT_TRUE(parameter_group_key(matrix, options).takes_matrix_rule);
    EXPECT_FALSE(parameter_group_key(vector, options).takes_matrix_rule);
    EXPECT_FALSE(
        parameter_group_key({.name = "conv1d.weight", .rank = 3}, options).takes_matrix_rule);
    EXPECT_FALSE(
        parameter_group_key({.name = "e", .rank = 2, .is_embedding_or_output = true}, options)
            .takes_matrix_rule);
  }
}

/// A model four times as wide as the one that rates were found for.
TEST(ParameterGroup, MupDividesTheRatesOfMatrices) {
  ParameterGroupOptions options = kPlain;
  options.mup_width = 4;
  const ParameterTraits matrix{.name = "w", .rank = 2}, vector{.name = "n", .rank = 1};
  const ParameterTraits output{
      .name = "output_layer.weight", .rank = 2, .is_embedding_or_output = true};
  const ParameterTraits positions{.name = "embedding.position_embeddings.weight", .rank = 2};
  const auto factor = [&options](const ParameterTraits& parameter) {
    return group_bounds(parameter_group_key(parameter, options), options).max_lr /
           options.bounds.max_lr;
  };
  EXPECT_EQ(factor(matrix), 0.25);
  EXPECT_EQ(parameter_group_key(matrix, options).eps_mult, 0.25);
  for (const ParameterTraits& other : {vector, output, positions}) {
    EXPECT_EQ(factor(other), 1) << other.name;
    EXPECT_EQ(parameter_group_key(other, options).eps_mult, 1) << other.name;
  }
  options.optimizer = config::OptimizerKind::sgd;
  EXPECT_EQ(factor(matrix), 1);
  for (const ParameterTraits& other : {vector, output, positions}) {
    EXPECT_EQ(factor(other), 4) << other.name;
  }
  options.decoupled_lr = 5e-3;  // which is told as it is
  EXPECT_EQ(group_bounds(parameter_group_key(output, options), options).max_lr, 5e-3);
  EXPECT_EQ(parameter_group_key(output, options).bounds_mult, 1);
  options.optimizer = config::OptimizerKind::muon;
  EXPECT_EQ(factor(matrix), 1);
}

TEST(ParameterGroup, DecoupledLearningRate) {
  const ParameterTraits embedding{.name = "embedding.word_embeddings.weight",
                                  .is_embedding_or_output = true};
  EXPECT_FALSE(parameter_group_key(embedding, kPlain).is_decoupled_lr);
  ParameterGroupOptions options = kPlain;
  options.decoupled_lr = 5e-3;
  const ParameterGroupKey key = parameter_group_key(embedding, options);
  EXPECT_TRUE(key.is_decoupled_lr);
  EXPECT_EQ(group_bounds(key, options).max_lr, 5e-3);
  EXPECT_EQ(group_bounds(key, options).min_lr, 1e-5);
  options.decoupled_min_lr = 1e-4;
  EXPECT_EQ(group_bounds(key, options).min_lr, 1e-4);
  EXPECT_EQ(group_bounds({}, options).max_lr, 1e-3);
  options.decoupled_min_lr = 1e-2;
  EXPECT_THROW(group_bounds(key, options), Error);
}

TEST(ParameterGroup, KeysOrderGroups) {
  EXPECT_LT((ParameterGroupKey{.wd_mult = 0.0}), (ParameterGroupKey{}));
  EXPECT_EQ((ParameterGroupKey{}), (ParameterGroupKey{}));
}

TEST(ParameterGroup, FromOptions) {
  config::OptimizerConfig config;
  config.lr = 1.0;
  config.min_lr = 0.5;
  config.decoupled_lr = 2.0;
  config.no_weight_decay_on_embedding = true;
  const ParameterGroupOptions options = make_parameter_group_options(config);
  EXPECT_EQ(options.bounds.max_lr, 1.0);
  EXPECT_EQ(options.bounds.min_lr, 0.5);
  EXPECT_EQ(options.decoupled_lr, 2.0);
  EXPECT_TRUE(options.skip_embedding_weight_decay);
}

}  // namespace parameter_group_test
}  // namespace mpitron::optim

#include "models/gpt/gpt_model.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "models/gpt/gpt_fixture.h"
#include "support/host_runtime.h"
#include "support/tiny_gpt.h"

namespace mpitron::models {
namespace gpt_model_test {

using autograd::Context;
using autograd::Tape;
using test::tiny_batch;
using test::tiny_gpt;

TEST_F(GptModelTest, HasTheReferencesNamesInItsOrder) {
  config::ModelConfig config = tiny_gpt();
  config.num_layers = 1;
  EXPECT_EQ(
      names(config),
      (std::vector<std::string>{
          "embedding.word_embeddings.weight", "embedding.position_embeddings.weight",
          "decoder.layers.0.input_layernorm.weight", "decoder.layers.0.input_layernorm.bias",
          "decoder.layers.0.self_attention.linear_proj.weight",
          "decoder.layers.0.self_attention.linear_proj.bias",
          "decoder.layers.0.self_attention.linear_qkv.weight",
          "decoder.layers.0.self_attention.linear_qkv.bias",
          "decoder.layers.0.pre_mlp_layernorm.weight", "decoder.layers.0.pre_mlp_layernorm.bias",
          "decoder.layers.0.mlp.linear_fc1.weight", "decoder.layers.0.mlp.linear_fc1.bias",
          "decoder.layers.0.mlp.linear_fc2.weight", "decoder.layers.0.mlp.linear_fc2.bias",
          "decoder.final_layernorm.weight", "decoder.final_layernorm.bias"}));
}

TEST_F(GptModelTest, ALlamaHasNeitherBiasesNorPositionsAndItsOwnOutputLayer) {
  config::ModelConfig config = tiny_gpt();
  config.num_layers = 1;
  config.position_embedding_type = config::PositionEmbedding::rope;
  config.normalization = config::Normalization::rms_norm;
  config.add_bias_linear = config.add_qkv_bias = false;
  config.gated_linear_unit = config.untie_embeddings_and_output_weights = true;
  EXPECT_EQ(names(config),
            (std::vector<std::string>{
                "embedding.word_embeddings.weight", "decoder.layers.0.input_layernorm.weight",
                "decoder.layers.0.self_attention.linear_proj.weight",
                "decoder.layers.0.self_attention.linear_qkv.weight",
                "decoder.layers.0.pre_mlp_layernorm.weight",
                "decoder.layers.0.mlp.linear_fc1.weight", "decoder.layers.0.mlp.linear_fc2.weight",
                "decoder.final_layernorm.weight", "output_layer.weight"}));
}

/// Weights are a function of seed and global name: a deeper model starts with the same first layer.
TEST_F(GptModelTest, InitialWeightsDoNotDependOnTheRestOfTheModel) {
  config::ModelConfig config = tiny_gpt();
  GptModel two(config, *device_);
  two.initialize();
  config.untie_embeddings_and_output_weights = true;
  config.position_embedding_type = config::PositionEmbedding::rope;
  GptModel other(config, *device_);
  other.initialize();
  for (autograd::Parameter& parameter : other.parameters()) {
    if (const autograd::Parameter* same = two.parameters().find(parameter.name)) {
      EXPECT_EQ(test::bits_of(parameter.value), test::bits_of(same->value)) << parameter.name;
    }
  }
  config.seed = 99;
  GptModel reseeded(config, *device_);
  reseeded.initialize();
  const char* words = "embedding.word_embeddings.weight";
  EXPECT_NE(test::bits_of(reseeded.parameters().find(words)->value),
            test::bits_of(two.parameters().find(words)->value));
}

/// A mode decides dropout, a tape decides recording: the first pass of a recomputed block trains
/// without a tape.
TEST_F(GptModelTest, DropoutDependsOnTheModeAndNotOnTheTape) {
  GptModel model(tiny_gpt(), *device_);
  model.initialize();
  Tape tape;
  Context train = context(), train_recording = context(&tape);
  Context evaluate = context(), evaluate_recording = context(&tape);
  evaluate.mode = evaluate_recording.mode = autograd::Mode::evaluate;
  const std::vector<double> dropped = losses(model, train, 0, 2),
                            kept = losses(model, evaluate, 0, 2);
  EXPECT_NE(dropped, kept);
  EXPECT_EQ(losses(model, train_recording, 0, 2), dropped);
  EXPECT_EQ(losses(model, evaluate_recording, 0, 2), kept);
  evaluate.iteration = 5;
  train.iteration = 5;
  EXPECT_EQ(losses(model, evaluate, 0, 2), kept);
  EXPECT_NE(losses(model, train, 0, 2), dropped);

  config::ModelConfig without = tiny_gpt();
  without.attention_dropout = without.hidden_dropout = 0;
  GptModel same(without, *device_);
  same.initialize();
  EXPECT_EQ(losses(same, context(), 0, 2), kept);
}

/// Masks belong to global samples: two microbatches of two give the losses of a batch of four.
TEST_F(GptModelTest, DropoutDoesNotDependOnTheMicrobatchSize) {
  GptModel model(tiny_gpt(), *device_);
  model.initialize();
  const std::vector<double> batch = losses(model, context(), 0, 4);
  for (const Index first : {0, 2}) {
    const std::vector<double> half = losses(model, context(), first, 2);
    for (std::size_t i = 0; i < half.size(); ++i) {
      EXPECT_NEAR(half[i], batch[i / 2 * 4 + i % 2 + static_cast<std::size_t>(first)], 1e-5);
    }
  }
  // The wrong position draws other masks.
  Context cx = context();
  cx.position.first_sample = 8;
  const std::vector<double> elsewhere =
      test::values_of(model.loss(cx, tiny_batch(*device_, 6, 0, 2)).value);
  double difference = 0;
  for (std::size_t i = 0; i < elsewhere.size(); ++i) {
    difference = std::max(difference, std::abs(elsewhere[i] - batch[i / 2 * 4 + i % 2]));
  }
  EXPECT_GT(difference, 1e-3);
}

/// What a batch's mask hides equals what a causal model hides by itself.
TEST_F(GptModelTest, AnAttentionMaskReplacesNothingWhenItHidesNothingMore) {
  GptModel model(tiny_gpt(), *device_);
  model.initialize();
  Context cx = context();
  cx.mode = autograd::Mode::evaluate;
  Batch batch = tiny_batch(*device_, 6, 0, 2);
  const std::vector<double> causal = test::values_of(model.loss(cx, batch).value);
  batch[kAttentionMask] = test::make_mask(*device_, {1, 6, 6}, std::vector<std::uint8_t>(36, 0));
  EXPECT_EQ(test::values_of(model.loss(cx, batch).value), causal);
}

}  // namespace gpt_model_test

}  // namespace mpitron::models

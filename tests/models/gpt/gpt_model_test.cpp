#include "models/gpt/gpt_model.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "support/host_runtime.h"
#include "support/tiny_gpt.h"

namespace mpitron::models {
namespace gpt_model_test {

using autograd::Context;
using autograd::Tape;
using autograd::Var;
using test::tiny_batch;
using test::tiny_gpt;

class GptModelTest : public ::testing::Test {
 protected:
  Context context(Tape* tape = nullptr) {
    return {
        .device = *device_, .seed = 3, .iteration = 4, .recorder = {.tape = tape, .usage = tape}};
  }
  std::vector<std::string> names(const config::ModelConfig& config) {
    GptModel model(config, *device_);
    std::vector<std::string> result;
    for (const autograd::Parameter& parameter : model.parameters()) {
      result.push_back(parameter.name);
    }
    return result;
  }
  std::vector<double> losses(GptModel& model, const Context& where, Index first, Index count) {
    Context cx = where;
    cx.position.first_sample = first;
    return test::values_of(model.loss(cx, tiny_batch(*device_, 6, first, count)).value);
  }

  std::unique_ptr<device::Device> device_ = device::make_device("host");
};

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

TEST_F(GptModelTest, OnlyAnUntiedOutputLayerHasItsOwnGradient) {
  for (const bool untied : {false, true}) {
    config::ModelConfig config = tiny_gpt();
    config.untie_embeddings_and_output_weights = untied;
    GptModel model(config, *device_);
    model.initialize();
    test::make_main_grads(*device_, model.parameters());
    Tape tape;
    Context cx = context(&tape);
    const Var loss = model.loss(cx, tiny_batch(*device_, 6, 0, 2));
    EXPECT_EQ(loss.shape(), (Shape{6, 2}));
    EXPECT_EQ(loss.value.dtype(), DType::f32);
    tape.backward(cx, loss.slot, test::random_tensor(*device_, {6, 2}, DType::f32, 1));
    EXPECT_EQ(tape.uses().size(), model.parameters().size());
    for (const autograd::Parameter& parameter : model.parameters()) {
      for (const double value : test::values_of(parameter.sink.main_grad)) {
        EXPECT_TRUE(std::isfinite(value)) << parameter.name;
      }
    }
    // Token 23 is no input here. Tied, the softmax still sends its row a gradient.
    const auto& words = model.parameters().find("embedding.word_embeddings.weight")->sink.main_grad;
    const auto batch_ids = tiny_batch(*device_, 6, 0, 2)[kTokens];
    const std::vector<double> gradient = test::values_of(words);
    Index unused = -1;
    for (Index token = 0; token < 24; ++token) {
      const auto* ids = batch_ids.data<std::int64_t>();
      if (std::find(ids, ids + 12, token) == ids + 12) {
        unused = token;
      }
    }
    ASSERT_GE(unused, 0);
    EXPECT_EQ(gradient[static_cast<std::size_t>(unused * 16)] == 0, untied);
    EXPECT_EQ(model.parameters().find("output_layer.weight") != nullptr, untied);
  }
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

TEST_F(GptModelTest, TheReferenceDeviceAgrees) {
  const auto reference = device::make_device("reference");
  GptModel host(tiny_gpt(), *device_), oracle(tiny_gpt(), *reference);
  host.initialize();
  oracle.initialize();
  Context cx{.device = *reference, .seed = 3, .iteration = 4};
  const std::vector<double> expected =
      test::values_of(oracle.loss(cx, tiny_batch(*reference, 6, 0, 2)).value);
  const std::vector<double> loss = losses(host, context(), 0, 2);
  for (std::size_t i = 0; i < loss.size(); ++i) {
    EXPECT_NEAR(loss[i], expected[i], 2e-5);
  }
}

}  // namespace gpt_model_test
}  // namespace mpitron::models

#include <algorithm>

#include <gtest/gtest.h>

#include "models/gpt/gpt_fixture.h"
#include "models/gpt/gpt_model.h"
#include "support/tiny_gpt.h"

namespace mpitron::models {
namespace gpt_objectives_test {

using autograd::Context;
using autograd::Tape;
using autograd::Var;
using test::tiny_batch;
using test::tiny_gpt;

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

}  // namespace gpt_objectives_test

}  // namespace mpitron::models

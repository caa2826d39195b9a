#include "nn/feed_forward/moe_layer.h"

#include "nn/layer_fixture.h"
#include "nn/layers/transformer_layer.h"

namespace mpitron::nn {
namespace moe_layer_test {

class MoeLayerTest : public LayerTest {
 protected:
  MoeLayerTest() {
    config_.add_bias_linear = false;
    config_.moe = config::MoeConfig{
        .num_experts = 4, .layers = {false, true, false, true}, .ffn_hidden_size = 24};
  }
  Step layer_step() {
    parameters_ = {};
    const MoeLayer layer(builder_, 2);
    return step([&](Context& cx, const Var& x) { return layer.forward(cx, x).output; });
  }
};

TEST_F(MoeLayerTest, HasTheReferencesParametersInItsOrder) {
  config_.moe->num_experts = 1;
  config_.moe->topk = 1;
  config_.moe->shared_expert_intermediate_size = 8;
  const MoeLayer layer(builder_, 2);
  EXPECT_EQ(names(), (std::vector<std::string>{
                         "router.weight", "experts.local_experts.0.linear_fc1.weight",
                         "experts.local_experts.0.linear_fc2.weight",
                         "shared_experts.linear_fc1.weight", "shared_experts.linear_fc2.weight"}));
  EXPECT_EQ(parameters_.find("shared_experts.linear_fc1.weight")->shape, (Shape{8, 16}));
}

/// Experts that all have the same weights are one MLP, because probabilities add up to 1.
TEST_F(MoeLayerTest, EqualExpertsAreOneMlp) {
  const MoeLayer layer(builder_, 2);
  const Mlp mlp(builder_.child("mlp"), 24);
  initialize();
  for (const char* name : {"linear_fc1.weight", "linear_fc2.weight"}) {
    const auto values = test::values_of(parameters_.find(std::string("mlp.") + name)->value);
    for (const char* expert : {"0.", "1.", "2.", "3."}) {
      test::set_values(
          parameters_.find(std::string("experts.local_experts.") + expert + name)->value, values);
    }
  }
  Context cx = context();
  const auto got = test::values_of(layer.forward(cx, input()).output.value);
  const auto expected = test::values_of(mlp.forward(cx, input()).output.value);
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_NEAR(got[i], expected[i], 1e-5);
  }
}

TEST_F(MoeLayerTest, DroppedTokensKeepTheSharedExpertOnly) {
  config_.moe->capacity_factor = 1e-9;  // one token for each expert
  config_.moe->topk = 1;
  config_.moe->pre_softmax = true;
  const auto zero_rows = [&] {
    parameters_ = {};
    const MoeLayer layer(builder_, 2);
    initialize();
    Context cx = context();
    const auto y = test::values_of(layer.forward(cx, input()).output.value);
    int zeros = 0;
    for (std::size_t row = 0; row < 10; ++row) {
      zeros += std::all_of(y.begin() + static_cast<std::ptrdiff_t>(16 * row),
                           y.begin() + static_cast<std::ptrdiff_t>(16 * row + 16),
                           [](double value) { return value == 0; })
                   ? 1
                   : 0;
    }
    return zeros;
  };
  EXPECT_GE(zero_rows(), 6);
  config_.moe->shared_expert_intermediate_size = 8;
  EXPECT_EQ(zero_rows(), 0);
}

TEST_F(MoeLayerTest, RecomputationChangesNoBit) {
  config_.moe->shared_expert_intermediate_size = 8;
  config_.moe->input_jitter_eps = 0.1;
  const Step stored = layer_step();
  config_.recompute_granularity = config::RecomputeGranularity::selective;
  for (const auto module :
       {config::RecomputeModule::shared_experts, config::RecomputeModule::moe_act}) {
    config_.recompute_modules = {module};
    EXPECT_EQ(layer_step(), stored);
  }
}

TEST_F(MoeLayerTest, ALayerIsChosenByItsNumber) {
  for (const Index number : {1, 2, 3, 4, 5}) {
    parameters_ = {};
    const TransformerLayer layer(builder_, number);
    const bool experts = number % 2 == 0 || number == 5;  // behind the last: as the last
    EXPECT_EQ(parameters_.find("mlp.router.weight") != nullptr, experts) << number;
    EXPECT_EQ(parameters_.find("mlp.linear_fc1.weight") != nullptr, !experts) << number;
  }
}

/// With `moe` recomputed, losses and tokens are told once and no gradient changes.
TEST_F(MoeLayerTest, ARecomputedLayerTellsOnce) {
  config_.moe->balancing_losses = {{config::RouterBalancing::aux_loss, 0.1}};
  autograd::LayerSums sums;
  const auto layer_step = [&] {
    sums.clear();
    parameters_ = {};
    const TransformerLayer layer(builder_, 2);
    return step([&](Context& cx, const Var& x) {
      cx.recorder.auxiliary = {.microbatch_seed = 1, .sums = &sums};
      return layer.forward(cx, x, {});
    });
  };
  const Step stored = layer_step();
  const double loss = sums.of("load_balancing_loss", 2)[1];
  const std::vector<double> tokens = sums.of("tokens_per_expert", 2, 4);
  config_.recompute_granularity = config::RecomputeGranularity::selective;
  config_.recompute_modules = {config::RecomputeModule::moe};
  EXPECT_EQ(layer_step(), stored);
  EXPECT_EQ(sums.of("load_balancing_loss", 2)[1], loss);
  EXPECT_EQ(sums.of("tokens_per_expert", 2, 4), tokens);
}

}  // namespace moe_layer_test
}  // namespace mpitron::nn

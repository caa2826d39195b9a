#include "nn/feed_forward/experts.h"

#include "nn/feed_forward/mlp.h"
#include "nn/layer_fixture.h"

namespace mpitron::nn {
namespace experts_test {

class ExpertsTest : public LayerTest {
 protected:
  ExpertsTest() {
    config_.add_bias_linear = false;
    config_.moe = config::MoeConfig{.num_experts = 3, .layers = {true}, .ffn_hidden_size = 24};
  }
  Var tokens(Index n) {
    return autograd::variable(test::random_tensor(*device_, {n, 16}, DType::f32, 3));
  }
  Var probabilities(Index n) {
    return autograd::variable(test::random_tensor(*device_, {n}, DType::f32, 4));
  }
};

TEST_F(ExpertsTest, AreNamedByTheirGlobalNumber) {
  config_.gated_linear_unit = true;
  const Experts experts(builder_);
  EXPECT_EQ(names(),
            (std::vector<std::string>{
                "local_experts.0.linear_fc1.weight", "local_experts.0.linear_fc2.weight",
                "local_experts.1.linear_fc1.weight", "local_experts.1.linear_fc2.weight",
                "local_experts.2.linear_fc1.weight", "local_experts.2.linear_fc2.weight"}));
  EXPECT_EQ(parameters_.find(names()[0])->shape, (Shape{48, 16}));
  EXPECT_EQ(parameters_.find(names()[1])->shape, (Shape{16, 24}));
  for (const autograd::Parameter& parameter : parameters_) {
    EXPECT_TRUE(parameter.placement.expert) << parameter.name;
  }
}

/// One expert with the weights of an MLP, whose output each token weighs.
TEST_F(ExpertsTest, AnExpertIsAnMlpWeighedByItsProbability) {
  config_.moe->num_experts = 1;
  for (const bool gated : {false, true}) {
    config_.gated_linear_unit = gated;
    parameters_ = {};
    const Experts experts(builder_);
    const Mlp mlp(builder_.child("mlp"), 24);
    initialize();
    for (const char* name : {"linear_fc1.weight", "linear_fc2.weight"}) {
      test::set_values(
          parameters_.find(std::string("mlp.") + name)->value,
          test::values_of(parameters_.find(std::string("local_experts.0.") + name)->value));
    }
    Context cx = context();
    const Var x = tokens(4), p = probabilities(4);
    const auto got = test::values_of(experts.forward(cx, x, p, {4}).value);
    const Var rows = autograd::constant(x.value.reshape({4, 1, 16}));
    const auto whole = test::values_of(mlp.forward(cx, rows).output.value);
    const auto factors = test::values_of(p.value);
    for (std::size_t i = 0; i < got.size(); ++i) {
      EXPECT_NEAR(got[i], whole[i] * factors[i / 16], 1e-5);
    }
  }
}

/// The bias of the output is weighed as the rest of it.
TEST_F(ExpertsTest, BiasesAreThoseOfAnMlp) {
  config_.moe->num_experts = 1;
  config_.add_bias_linear = true;
  const Experts experts(builder_);
  const Mlp mlp(builder_.child("mlp"), 24);
  initialize();
  for (const char* name :
       {"linear_fc1.weight", "linear_fc1.bias", "linear_fc2.weight", "linear_fc2.bias"}) {
    autograd::Parameter& own = *parameters_.find(std::string("local_experts.0.") + name);
    if (own.shape.rank() == 1) {
      own.value = test::random_tensor(*device_, own.shape, DType::f32, 5);
    }
    test::set_values(parameters_.find(std::string("mlp.") + name)->value,
                     test::values_of(own.value));
  }
  Context cx = context();
  const Var x = tokens(4), p = probabilities(4);
  const auto got = test::values_of(experts.forward(cx, x, p, {4}).value);
  const BranchOutput whole = mlp.forward(cx, autograd::constant(x.value.reshape({4, 1, 16})));
  const auto y = test::values_of(whole.output.value), bias = test::values_of(whole.bias->value);
  const auto factors = test::values_of(p.value);
  for (std::size_t i = 0; i < got.size(); ++i) {
    EXPECT_NEAR(got[i], (y[i] + bias[i % 16]) * factors[i / 16], 1e-5);
  }
}

TEST_F(ExpertsTest, ProbabilitiesMayWeighTheInput) {
  config_.moe->apply_probs_on_input = true;
  const Experts experts(builder_);
  initialize();
  Context cx = context();
  const auto output = [&](const Var& x, const std::vector<double>& p) {
    const Var weights = autograd::constant(test::make_tensor(*device_, {2}, DType::f32, p));
    return test::values_of(experts.forward(cx, x, weights, {1, 1, 0}).value);
  };
  const Var x = tokens(2);
  std::vector<double> halves = test::values_of(x.value);
  for (double& value : halves) {
    value /= 2;
  }
  const Var half = autograd::constant(test::make_tensor(*device_, {2, 16}, DType::f32, halves));
  EXPECT_EQ(output(x, {0.5, 0.5}), output(half, {1, 1}));
}

/// Neither the activation's output nor what is made of it lives from forward to backward.
TEST_F(ExpertsTest, RecomputedActivationsAreNotKept) {
  Index live = 0;
  const auto gradients = [&] {
    parameters_ = {};
    const Experts experts(builder_);
    initialize();
    Tape tape;
    Context cx = context(&tape);
    const Var x = tokens(50), p = probabilities(50);
    const Index before = device_->allocator().statistics().bytes_in_use;
    const Var y = experts.forward(cx, x, p, {20, 0, 30});
    live = device_->allocator().statistics().bytes_in_use - before;
    tape.backward(cx, y.slot, test::random_tensor(*device_, y.shape(), DType::f32, 5));
    std::vector<std::byte> bits = test::bits_of(x.slot.gradient());
    for (const Tensor& more :
         {p.slot.gradient(),
          parameters_.find("local_experts.2.linear_fc2.weight")->sink.main_grad}) {
      const std::vector<std::byte> next = test::bits_of(more);
      bits.insert(bits.end(), next.begin(), next.end());
    }
    return bits;
  };
  const auto kept = gradients();
  const Index all = live;
  config_.recompute_granularity = config::RecomputeGranularity::selective;
  config_.recompute_modules = {config::RecomputeModule::moe_act};
  EXPECT_EQ(gradients(), kept);
  EXPECT_LE(live, all - 2 * 50 * 24 * 4);
}

}  // namespace experts_test
}  // namespace mpitron::nn

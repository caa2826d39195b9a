#pragma once
#include <cmath>
#include <functional>

#include <gtest/gtest.h>

#include "nn/base/builder.h"
#include "ops/elementwise/initialize.h"
#include "support/host_runtime.h"
#include "support/tensors.h"

namespace mpitron::nn {

using autograd::Context;
using autograd::Tape;
using autograd::Var;
using tensor::Tensor;

/// A small layer on the host device, its parameters, and one training step of it.
class LayerTest : public ::testing::Test {
 protected:
  LayerTest() {
    config_.num_layers = 4;
    config_.hidden_size = 16;
    config_.ffn_hidden_size = 32;
    config_.num_attention_heads = 4;
    config_.num_query_groups = 2;
    config_.kv_channels = 4;
    config_.seq_length = 5;
    config_.max_position_embeddings = 8;
    config_.padded_vocab_size = 24;
    config_.softmax_scale = 0.5;
    config_.init_method_std = 0.2;
    config_.attention_dropout = 0;
    config_.hidden_dropout = 0;
  }

  void initialize() {
    for (autograd::Parameter& parameter : parameters_) {
      ops::initialize(*device_, parameter, config_.params_dtype, 1234);
      const std::vector<double> poison(static_cast<std::size_t>(parameter.value.numel()), NAN);
      parameter.sink.main_grad =
          test::make_tensor(*device_, parameter.value.shape(), DType::f32, poison);
      parameter.sink.written = false;
    }
    for (autograd::Buffer& buffer : parameters_.buffers()) {
      ops::initialize(*device_, buffer);
    }
  }
  std::vector<std::string> names() const {
    std::vector<std::string> result;
    for (const autograd::Parameter& parameter : parameters_) {
      result.push_back(parameter.name);
    }
    return result;
  }
  Context context(Tape* tape = nullptr) {
    return {
        .device = *device_, .seed = 1, .iteration = 1, .recorder = {.tape = tape, .usage = tape}};
  }
  Var input() const {
    return autograd::variable(test::random_tensor(*device_, {5, 2, 16}, DType::f32, 7));
  }

  /// What a step leaves: every bit of output, input gradient and weight gradients.
  struct Step {
    std::vector<std::byte> output, gradients;
    bool operator==(const Step&) const = default;
  };
  Step step(const std::function<Var(Context&, const Var&)>& layer) {
    initialize();
    Tape tape;
    Context cx = context(&tape);
    const Var x = input(), y = layer(cx, x);
    Step result{test::bits_of(y.value), {}};
    tape.backward(cx, y.slot, test::random_tensor(*device_, y.shape(), y.value.dtype(), 8));
    result.gradients = test::bits_of(x.slot.gradient());
    for (const autograd::Parameter& parameter : parameters_) {
      for (const double value : test::values_of(parameter.sink.main_grad)) {
        EXPECT_EQ(std::isfinite(value), parameter.sink.written) << parameter.name;
      }
      const std::vector<std::byte> bits = test::bits_of(parameter.sink.main_grad);
      result.gradients.insert(result.gradients.end(), bits.begin(), bits.end());
    }
    return result;
  }

  std::unique_ptr<device::Device> device_ = device::make_device("host");
  config::ModelConfig config_;
  autograd::ParameterList parameters_;
  const comm::ParallelGroups groups_ = comm::groups_of_one(*comm::make_single_world());
  const Builder builder_{{config_, groups_, parameters_}};
};

}  // namespace mpitron::nn

#pragma once
#include <deque>
#include <functional>
#include <map>

#include <gtest/gtest.h>

#include "autograd/gradient.h"
#include "models/base/model.h"
#include "support/host_runtime.h"
#include "support/tensors.h"
#include "support/tiny_gpt.h"

// The parts of a pipeline, one after the other in one process: every model must be the same whole
// whatever it is cut into.

namespace mpitron::models {

/// What a step over some parts leaves.
struct PartsResult {
  std::vector<std::vector<std::byte>> losses;            // of each objective
  std::map<std::string, std::vector<double>> gradients;  // summed over parts that share a name
};

class ModelParts : public ::testing::Test {
 protected:
  using Make = std::function<std::unique_ptr<Model>(Model::Share)>;

  PartsResult run(const Make& make, const Batch& batch, const std::vector<nn::ModelPart>& parts) {
    const auto groups = comm::groups_of_one(*comm::make_single_world());
    std::vector<std::unique_ptr<Model>> models;
    std::deque<autograd::Tape> tapes;
    std::vector<autograd::Var> inputs, outputs;
    std::vector<Objective> objectives;
    PartsResult result;
    autograd::Var x;
    for (const nn::ModelPart& part : parts) {
      Model& model = *models.emplace_back(make({.groups = groups, .part = part}));
      model.initialize();
      test::make_main_grads(*device_, model.parameters());
      autograd::Context cx = context(tapes.emplace_back());
      inputs.push_back(part.has_embedding ? autograd::Var{} : autograd::variable(x.value));
      if (part.has_output) {
        objectives = model.objectives(cx, batch, inputs.back());
        for (const Objective& objective : objectives) {
          result.losses.push_back(test::bits_of(objective.losses.value));
        }
        x = objectives.front().losses;
      } else {
        x = model.hidden(cx, batch, inputs.back());
      }
      outputs.push_back(x);
    }
    for (std::size_t i = 1; i < objectives.size(); ++i) {
      if (objectives[i].losses.slot) {  // else it is told only
        objectives[i].losses.slot.gradient() = seed(objectives[i].losses, 6);
      }
    }
    tensor::Tensor gradient = seed(x, 5);
    for (std::size_t i = parts.size(); i-- > 0;) {
      autograd::Context cx = context(tapes[i]);
      tapes[i].backward(cx, outputs[i].slot, gradient);
      gradient = inputs[i].slot ? autograd::take_gradient(inputs[i].slot) : tensor::Tensor();
      add_gradients(*models[i], result);
    }
    return result;
  }

  /// All cuts of `layers` layers into two parts, and into single layers.
  void expect_parts_make_the_whole(const Make& make, const Batch& batch, Index layers) {
    const PartsResult whole = run(make, batch, {{.num_layers = layers}});
    for (Index cut = 0; cut <= layers; ++cut) {
      SCOPED_TRACE(cut);
      expect_same(run(make, batch,
                      {{.num_layers = cut, .has_output = false},
                       {.first_layer = cut, .num_layers = layers - cut, .has_embedding = false}}),
                  whole);
    }
    std::vector<nn::ModelPart> single;
    for (Index i = 0; i < layers; ++i) {
      single.push_back({.first_layer = i,
                        .num_layers = 1,
                        .has_embedding = i == 0,
                        .has_output = i + 1 == layers});
    }
    expect_same(run(make, batch, single), whole);
  }

  std::unique_ptr<device::Device> device_ = device::make_device("host");

 private:
  autograd::Context context(autograd::Tape& tape) {
    return {
        .device = *device_, .seed = 3, .iteration = 4, .recorder = {.tape = &tape, .usage = &tape}};
  }
  tensor::Tensor seed(const autograd::Var& x, unsigned number) {
    return test::random_tensor(*device_, x.shape(), DType::f32, number);
  }
  static void add_gradients(Model& model, PartsResult& result) {
    for (const autograd::Parameter& parameter : model.parameters()) {
      const std::vector<double> values = test::values_of(parameter.sink.main_grad);
      std::vector<double>& sum = result.gradients[parameter.name];
      sum.resize(values.size());
      for (std::size_t i = 0; i < values.size(); ++i) {
        sum[i] += parameter.sink.written ? values[i] : 0;
      }
    }
  }
  static void expect_same(const PartsResult& parts, const PartsResult& whole) {
    EXPECT_EQ(parts.losses, whole.losses);
    ASSERT_EQ(parts.gradients.size(), whole.gradients.size());
    for (const auto& [name, expected] : whole.gradients) {
      const std::vector<double>& got = parts.gradients.at(name);
      for (std::size_t i = 0; i < expected.size(); ++i) {
        ASSERT_NEAR(got[i], expected[i], 1e-5) << name << " " << i;
      }
    }
  }
};

}  // namespace mpitron::models

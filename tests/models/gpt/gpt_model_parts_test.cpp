#include <gtest/gtest.h>

#include "autograd/gradient.h"
#include "models/gpt/gpt_model.h"
#include "support/host_runtime.h"
#include "support/tiny_gpt.h"

// The parts of a pipeline, one after the other in one process.

namespace mpitron::models {
namespace gpt_model_parts_test {

using autograd::Context;
using autograd::Parameter;
using autograd::Tape;
using autograd::Var;
using tensor::Tensor;

using Bits = std::vector<std::byte>;

struct Results {
  Bits loss;
  std::map<std::string, std::vector<double>> gradients;  // summed over parts that share a name
};

class GptModelParts : public ::testing::TestWithParam<bool> {
 protected:
  void SetUp() override {
    config_.num_layers = 4;
    config_.untie_embeddings_and_output_weights = GetParam();
  }

  Results run(const std::vector<nn::ModelPart>& parts) {
    const auto groups = comm::groups_of_one(*comm::make_single_world());
    const Batch batch = test::tiny_batch(*device_, 6, 0, 2);
    std::deque<GptModel> models;
    std::deque<Tape> tapes;
    std::vector<Var> inputs, outputs;
    Var x;
    for (const nn::ModelPart& part : parts) {
      GptModel& model =
          models.emplace_back(config_, *device_, GptModel::Share{.groups = groups, .part = part});
      model.initialize();
      test::make_main_grads(*device_, model.parameters());
      Context cx = context(tapes.emplace_back());
      inputs.push_back(part.has_embedding ? Var{} : autograd::variable(x.value));
      x = part.has_output ? model.loss(cx, batch, inputs.back())
                          : model.hidden(cx, batch, inputs.back());
      outputs.push_back(x);
    }
    Results results{test::bits_of(x.value), {}};
    Tensor seed = test::random_tensor(*device_, x.shape(), DType::f32, 5);
    for (std::size_t i = parts.size(); i-- > 0;) {
      Context cx = context(tapes[i]);
      tapes[i].backward(cx, outputs[i].slot, seed);
      seed = inputs[i].slot ? autograd::take_gradient(inputs[i].slot) : Tensor();
      add_gradients(models[i], results);
    }
    return results;
  }

  std::unique_ptr<device::Device> device_ = device::make_device("host");
  config::ModelConfig config_ = test::tiny_gpt();

 private:
  Context context(Tape& tape) {
    return {
        .device = *device_, .seed = 3, .iteration = 4, .recorder = {.tape = &tape, .usage = &tape}};
  }
  static void add_gradients(GptModel& model, Results& results) {
    for (const Parameter& parameter : model.parameters()) {
      const std::vector<double> values = test::values_of(parameter.sink.main_grad);
      std::vector<double>& sum = results.gradients[parameter.name];
      sum.resize(values.size());
      std::transform(values.begin(), values.end(), sum.begin(), sum.begin(), std::plus<>());
    }
  }
};

TEST_P(GptModelParts, OneAfterTheOtherAreTheWholeModel) {
  const Results whole = run({nn::whole_model(config_)});
  const Results parts = run({{.num_layers = 1, .has_output = false},
                             {.first_layer = 1, .has_embedding = false, .has_output = false},
                             {.first_layer = 1, .num_layers = 3, .has_embedding = false}});
  EXPECT_EQ(parts.loss, whole.loss);
  ASSERT_EQ(parts.gradients.size(), whole.gradients.size());
  for (const auto& [name, gradient] : whole.gradients) {
    const std::vector<double>& other = parts.gradients.at(name);
    ASSERT_EQ(other.size(), gradient.size()) << name;
    for (std::size_t i = 0; i < gradient.size(); ++i) {
      EXPECT_NEAR(other[i], gradient[i], 1e-6) << name;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(OutputLayer, GptModelParts, ::testing::Bool());

TEST(GptModelPart, HoldsOnlyItsParametersAndCountsATiedWeightOnce) {
  const auto device = device::make_device("host");
  GptModel last(test::tiny_gpt(), *device,
                {.groups = comm::groups_of_one(*comm::make_single_world()),
                 .part = {.first_layer = 1, .num_layers = 1, .has_embedding = false}});
  autograd::ParameterList& parameters = last.parameters();
  EXPECT_EQ(parameters.find("decoder.layers.0.mlp.linear_fc1.weight"), nullptr);
  EXPECT_NE(parameters.find("decoder.layers.1.mlp.linear_fc1.weight"), nullptr);
  EXPECT_EQ(parameters.find("embedding.position_embeddings.weight"), nullptr);
  ASSERT_NE(parameters.find("embedding.word_embeddings.weight"), nullptr);
  EXPECT_TRUE(parameters.find("embedding.word_embeddings.weight")->placement.counted_elsewhere);
}

}  // namespace gpt_model_parts_test
}  // namespace mpitron::models

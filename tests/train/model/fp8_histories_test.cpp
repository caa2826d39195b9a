#include "train/model/fp8_histories.h"

#include <cmath>

#include <fmt/ranges.h>

#include "train/model/fp8_runs.h"

namespace mpitron::train {
namespace fp8_histories_test {

class Fp8HistoriesTest : public ::testing::Test {
 protected:
  std::unique_ptr<device::Device> device_ = device::make_device("host");
};

TEST_F(Fp8HistoriesTest, EveryRecipeFollowsBf16AndRepeatsBitForBit) {
  constexpr Index kSteps = 50;
  const Flags slowly = {"--lr", "0.002"};
  const std::vector<double> in_bf16 = losses(*device_, Flags{"--bf16"} + slowly, kSteps);
  for (const Flags& recipe : {kHistories, kTensorwise, kBlockwise}) {
    const std::vector<double> in_fp8 = losses(*device_, recipe + slowly, kSteps);
    EXPECT_NE(in_fp8, in_bf16);
    EXPECT_LT(in_fp8.back(), 0.8 * in_fp8.front());
    for (std::size_t i = 0; i < in_fp8.size(); ++i) {
      EXPECT_NEAR(in_fp8[i] / in_bf16[i], 1, 0.05) << recipe.back() << ", step " << i + 1;
    }
    EXPECT_EQ(losses(*device_, recipe + slowly, 5),
              std::vector(in_fp8.begin(), in_fp8.begin() + 5));
  }
}

TEST_F(Fp8HistoriesTest, RememberTheLargestValuesOfTheSteps) {
  TinyTraining training(*device_, tiny_run(kHistories));
  TinyCorpus corpus;
  autograd::Buffer& history = training.model.parameters().buffers().front();
  EXPECT_EQ(history.name, "decoder.layers.0.self_attention.linear_proj.weight.fp8_amax_history");
  const autograd::Parameter& weight =
      *training.model.parameters().find("decoder.layers.0.self_attention.linear_proj.weight");
  std::vector<double> of_weights;
  for (Index iteration = 1; iteration <= 3; ++iteration) {
    double largest = 0;
    for (const double value : test::values_of(weight.value)) {
      largest = std::max(largest, std::abs(value));
    }
    of_weights.insert(of_weights.begin(), largest);
    training.step.run(iteration, 4, 8, corpus.from(8 * iteration, 2));
  }
  const std::vector<double> rows = test::values_of(history.value);
  EXPECT_EQ(rows[4], of_weights[0]);
  EXPECT_EQ(rows[5], of_weights[1]);
  EXPECT_EQ(rows[3], *std::ranges::max_element(of_weights));
}

TEST_F(Fp8HistoriesTest, SomeLayersStayInBf16) {
  const Flags four = kHybrid + Flags{"--num-layers", "4", "--first-last-layers-bf16",
                                     "--num-layers-at-end-in-bf16", "2"};
  TinyTraining training(*device_, tiny_run(four));
  for (const autograd::Parameter& parameter : training.model.parameters()) {
    const bool linear =
        parameter.name.find(".linear_") != std::string::npos && parameter.name.ends_with(".weight");
    EXPECT_EQ(parameter.fp8.has_value(), linear && parameter.placement.unit == 2) << parameter.name;
  }
}

/// Replicas see other samples, and shards other numbers, than one rank that has all.
TEST(Fp8Layouts, RanksRememberTheLargestValuesOfAll) {
  const Histories alone = histories({}, 1).front();
  EXPECT_EQ(alone.size(), 8u);
  for (const Histories& replica : histories({}, 2)) {
    EXPECT_EQ(replica, alone);
  }
  const Flags tensor = {"--tensor-model-parallel-size", "2"};
  for (const Histories& shard : histories(tensor, 2)) {
    for (const auto& [name, values] : alone) {
      for (const std::size_t place : {0, 3, 6}) {  // inputs, weights, gradients
        EXPECT_GT(values[place], 0) << name;
        EXPECT_NEAR(shard.at(name)[place] / values[place], 1, place == 3 ? 0 : 0.1) << name;
      }
    }
  }
}

TEST(Fp8Layouts, DelayedScalesDependOnNoLayout) {
  const LayoutOutcome alone = run_layout(tiny_run(kHistories), 4);
  for (const Flags& layout : {Flags{}, Flags{"--tensor-model-parallel-size", "2"},
                              Flags{"--tensor-model-parallel-size", "2", "--sequence-parallel"},
                              Flags{"--pipeline-model-parallel-size", "2"}}) {
    const LayoutOutcome other = run_layout(tiny_run(kHistories + layout, 2), 4);
    for (std::size_t i = 0; i < alone.losses.size(); ++i) {
      EXPECT_NEAR(other.losses[i] / alone.losses[i], 1, 2e-3)
          << fmt::format("{}", fmt::join(layout, " ")) << ", step " << i + 1;
    }
  }
}

}  // namespace fp8_histories_test
}  // namespace mpitron::train

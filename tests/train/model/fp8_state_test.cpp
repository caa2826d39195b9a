#include "train/model/fp8_state.h"

#include <cmath>
#include <map>

#include <fmt/ranges.h>

#include "device/launch.h"
#include "train/checkpoint_run.h"
#include "train/model/fp8_runs.h"

namespace mpitron::train {
namespace fp8_weights_test {

const Flags kHybrid = {"--bf16", "--fp8-format", "hybrid"};
const Flags kDelayed = kHybrid + Flags{"--fp8-amax-history-len", "3"};
const Flags kTensorwise = kHybrid + Flags{"--fp8-recipe", "tensorwise"};
const Flags kBlockwise = kHybrid + Flags{"--fp8-recipe", "blockwise"};
const Flags kRecompute = {"--recompute-granularity", "full", "--recompute-method", "uniform",
                          "--recompute-num-layers",  "1"};

/// Counts launches by kernel.
class LaunchCount final : public device::LaunchObserver {
 public:
  void before(const device::LaunchRecord& record) override { ++counts[record.kernel]; }
  void after(const device::LaunchRecord&) override {}
  void argument(const device::LaunchRecord&, const char*, const device::ConstTensorView&) override {
  }
  std::map<std::string, Index> counts;
};

class Fp8WeightsTest : public ::testing::Test {
 protected:
  /// Losses of three steps with an evaluation between them, and the weights they lead to.
  std::vector<double> train(const Flags& flags, bool keep) {
    TinyTraining training(*device_, tiny_run(flags));
    if (!keep) {
      for (autograd::Parameter& parameter : training.model.parameters()) {
        if (parameter.fp8) {
          EXPECT_NE(std::exchange(parameter.fp8->kept, nullptr), nullptr) << parameter.name;
        }
      }
    }
    TinyCorpus corpus;
    std::vector<double> told;
    for (Index iteration = 1; iteration <= 3; ++iteration) {
      const Index first = 8 * iteration;
      told.push_back(training.step.run(iteration, 4, 8, corpus.from(first, 2)).loss());
      told.push_back(training.step.evaluate(2, corpus.from(first, 2)).loss());
    }
    const std::vector<double> weights = training.weights();
    told.insert(told.end(), weights.begin(), weights.end());
    return told;
  }

  std::unique_ptr<device::Device> device_ = device::make_device("host");
};

TEST_F(Fp8WeightsTest, ChangeNoBit) {
  for (const Flags& flags : {kDelayed, kTensorwise, kBlockwise, kTensorwise + kRecompute,
                             kDelayed + Flags{"--use-distributed-optimizer"}}) {
    EXPECT_EQ(train(flags, true), train(flags, false)) << flags.back();
  }
}

TEST_F(Fp8WeightsTest, AreMadeOncePerStep) {
  TinyTraining training(*device_, tiny_run(kTensorwise));
  Index weights = 0;
  for (const autograd::Parameter& parameter : training.model.parameters()) {
    weights += parameter.fp8 ? 1 : 0;
  }
  ASSERT_EQ(weights, 8);
  TinyCorpus corpus;
  const auto quantized = [&](Index microbatches) {
    LaunchCount count;
    std::visit([&](auto& stream) { stream.observer = &count; }, device_->stream());
    training.step.run(1, microbatches, 2 * microbatches, corpus.from(8, 2));
    std::visit([](auto& stream) { stream.observer = nullptr; }, device_->stream());
    return count.counts.at("fp8_quantize");
  };
  // Inputs and gradients twice for each microbatch (one of both for each direction of the sum),
  // weights twice for all of them.
  EXPECT_EQ(quantized(4), weights * (4 * 4 + 2));
  EXPECT_EQ(quantized(1), weights * (4 + 2));
}

TEST_F(Fp8WeightsTest, AreKeptWhereThatSavesSomething) {
  const auto kept_bytes = [&](const Flags& flags) {
    TinyTraining training(*device_, tiny_run(flags));
    return training.step.fp8_weights().bytes();
  };
  // 12 h^2 elements in each of two layers, two bytes for each.
  EXPECT_EQ(kept_bytes(kTensorwise), 2 * 2 * 12 * 16 * 16);
  EXPECT_EQ(kept_bytes(kTensorwise + Flags{"--micro-batch-size", "8"}), 0);
  EXPECT_EQ(kept_bytes({"--bf16"}), 0);
  const config::RunConfig gathered =
      tiny_run(kTensorwise + Flags{"--use-megatron-fsdp", "--data-parallel-sharding-strategy",
                                   "optim_grads_params", "--ckpt-format", "fsdp_dtensor"});
  EXPECT_FALSE(keeps_fp8_weights(gathered));
}

TEST(Fp8WeightsLayouts, ChangeNoBitOfPipelinesAndShards) {
  const auto losses = [](const Flags& layout, Index world, bool keep) {
    const config::RunConfig run = tiny_run(kTensorwise + layout, world);
    std::vector<double> told;
    comm::run_thread_world(world, [&](comm::World& ranks) {
      const auto device = device::make_device("host");
      TrainedModel model(*device, run, ranks);
      Timers timers(0, config::TimingLogOption::max);
      TrainStep step(*device, model, run, timers);
      for (autograd::Parameter& parameter : model.parameters()) {
        if (!keep && parameter.fp8) {
          parameter.fp8->kept = nullptr;
        }
      }
      TinyCorpus corpus;
      for (Index iteration = 1; iteration <= 2; ++iteration) {
        const StepReport report = step.run(iteration, 4, 8, corpus.from(8 * iteration, 2));
        if (ranks.rank() == 0) {
          told.push_back(report.loss());
          told.push_back(report.grad_norm);
        }
      }
    });
    return told;
  };
  for (const Flags& layout :
       {Flags{"--pipeline-model-parallel-size", "2"},
        Flags{"--pipeline-model-parallel-size", "2", "--pipeline-schedule", "zero-bubble"},
        Flags{"--tensor-model-parallel-size", "2", "--sequence-parallel"}}) {
    EXPECT_EQ(losses(layout, 2, true), losses(layout, 2, false)) << layout.back();
  }
}

}  // namespace fp8_weights_test

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

#include "train/model/fp8_weights.h"

#include <map>

#include "device/launch.h"
#include "train/checkpoint_run.h"

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
}  // namespace mpitron::train

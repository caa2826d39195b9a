#include "train/step/train_step.h"

#include <array>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <utility>

#include <gtest/gtest.h>

#include "support/far_device.h"
#include "train/tiny_run.h"

namespace mpitron::train {
namespace train_step_test {

class TrainStepTest : public ::testing::Test {
 protected:
  static void expect_near(const std::vector<double>& a, const std::vector<double>& b,
                          double tolerance) {
    ASSERT_EQ(a.size(), b.size());
    double worst = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
      worst = std::max(worst, std::abs(a[i] - b[i]));
    }
    EXPECT_LE(worst, tolerance);
  }
  static double norm(const std::vector<double>& x) {
    double sum = 0;
    for (const double value : x) {
      sum += value * value;
    }
    return std::sqrt(sum);
  }

  std::unique_ptr<device::Device> device_ = device::make_device("host");
};

TEST_F(TrainStepTest, Learns) {
  TinyTraining training(*device_, tiny_run({"--hidden-dropout", "0", "--attention-dropout", "0"}));
  TinyCorpus corpus;
  std::vector<double> losses;
  for (Index iteration = 1; iteration <= 40; ++iteration) {
    const StepReport report =
        training.step.run(iteration, 4, 8, corpus.from(8 * (iteration - 1), 2));
    losses.push_back(report.loss());
    EXPECT_EQ(report.tokens, 64);
    EXPECT_EQ(report.learning_rate, 0.01);
    EXPECT_FALSE(report.skipped);
  }
  EXPECT_NEAR(losses.front(), std::log(24.0), 0.5);
  EXPECT_LT(losses.back(), 0.5 * losses.front());
}

/// Dropout is on: masks belong to global samples.
TEST_F(TrainStepTest, FourMicrobatchesOfTwoAreOneOfEight) {
  TinyCorpus corpus;
  TinyTraining four(*device_, tiny_run()), one(*device_, tiny_run());
  for (Index iteration = 1; iteration <= 3; ++iteration) {
    const Index first = 8 * (iteration - 1);
    const StepReport a = four.step.run(iteration, 4, 8, corpus.from(first, 2));
    const StepReport b = one.step.run(iteration, 1, 8, corpus.from(first, 8));
    EXPECT_NEAR(a.loss(), b.loss(), 1e-5);
    EXPECT_NEAR(a.grad_norm, b.grad_norm, 1e-5 * b.grad_norm);
    expect_near(four.gradients(), one.gradients(), 1e-5);
  }
}

/// Without --calculate-per-token-loss: the mean over microbatches of each one's masked mean.
TEST_F(TrainStepTest, TheObjectiveIsTheMeanOfTheMicrobatchesMeans) {
  TinyCorpus corpus(true);
  TinyTraining whole(*device_, tiny_run());
  const StepReport report = whole.step.run(1, 4, 8, corpus.from(0, 2));
  EXPECT_EQ(report.tokens, 36);  // 1 + 2 + ... + 8
  std::vector<double> mean(whole.gradients().size()), loss_sums;
  double loss_sum = 0;
  for (Index i = 0; i < 4; ++i) {
    TinyTraining part(*device_, tiny_run());
    const StepReport own = part.step.run(1, 1, 2, corpus.from(2 * i, 2));
    EXPECT_EQ(own.tokens, 4 * i + 3);
    loss_sum += own.loss_sum;
    const std::vector<double> gradients = part.gradients();
    for (std::size_t at = 0; at < mean.size(); ++at) {
      mean[at] += gradients[at] / 4;
    }
  }
  EXPECT_NEAR(report.loss_sum, loss_sum, 1e-4);
  expect_near(whole.gradients(), mean, 1e-5);
  EXPECT_NEAR(report.grad_norm, norm(mean), 1e-4);
}

/// What is logged with --sft is what is trained: the mean of the microbatches' means.
TEST_F(TrainStepTest, ConversationsLogTheMeanOfTheMicrobatchesMeans) {
  TinyCorpus corpus(true);
  config::RunConfig config = tiny_run({"--calculate-per-token-loss"});
  TinyTraining tokens(*device_, config);
  config.data.sft = true;
  TinyTraining means(*device_, config);
  const StepReport evaluated = means.step.evaluate(4, corpus.from(0, 2));
  const StepReport trained = means.step.run(1, 4, 8, corpus.from(0, 2));
  double sum = 0;
  for (Index i = 0; i < 4; ++i) {
    sum += tokens.step.evaluate(1, corpus.from(2 * i, 2)).loss();
  }
  EXPECT_NEAR(evaluated.loss(), sum / 4, 1e-6);
  const StepReport per_token = tokens.step.run(1, 4, 8, corpus.from(0, 2));
  EXPECT_GT(std::abs(trained.loss() - per_token.loss()), 1e-3);
  EXPECT_EQ(trained.tokens, 36);  // the gradient is divided by these all the same
  EXPECT_EQ(trained.grad_norm, per_token.grad_norm);
}

/// With it: the sum over all tokens divided by their number, however they are split.
TEST_F(TrainStepTest, ThePerTokenObjectiveDoesNotDependOnTheMicrobatches) {
  const std::vector<std::string> per_token{"--calculate-per-token-loss"};
  TinyCorpus corpus(true);
  TinyTraining four(*device_, tiny_run(per_token)), one(*device_, tiny_run(per_token));
  const StepReport a = four.step.run(1, 4, 8, corpus.from(0, 2));
  const StepReport b = one.step.run(1, 1, 8, corpus.from(0, 8));
  EXPECT_EQ(a.tokens, 36);
  EXPECT_NEAR(a.loss(), b.loss(), 1e-5);
  expect_near(four.gradients(), one.gradients(), 1e-4);  // sums over 36 tokens
  EXPECT_NEAR(a.grad_norm, norm(four.gradients()) / 36, 1e-5);
  // One microbatch, objective a masked mean: the same step.
  TinyTraining mean(*device_, tiny_run());
  const StepReport c = mean.step.run(1, 1, 8, corpus.from(0, 8));
  EXPECT_NEAR(c.grad_norm, b.grad_norm, 1e-5 * b.grad_norm);
  // Four uneven ones with the mean of means: another.
  TinyTraining means(*device_, tiny_run());
  EXPECT_GT(std::abs(means.step.run(1, 4, 8, corpus.from(0, 2)).grad_norm - b.grad_norm),
            1e-3 * b.grad_norm);
}

TEST_F(TrainStepTest, AnFp16OverflowSkipsTheUpdateAndLowersTheScale) {
  TinyCorpus corpus;
  TinyTraining training(*device_, tiny_run({"--fp16", "--initial-loss-scale", "4294967296",
                                            "--hysteresis", "2", "--lr-decay-style", "linear"}));
  const std::vector<double> before = training.weights();
  Index iteration = 1;
  StepReport report = training.step.run(iteration, 1, 2, corpus.from(0, 2));
  EXPECT_TRUE(report.skipped);
  EXPECT_EQ(report.loss_scale, 4294967296);
  EXPECT_EQ(training.weights(), before);
  EXPECT_EQ(training.step.loss_scaler().scale(), 4294967296);  // hysteresis 2: the first is free
  const double rate = report.learning_rate;
  while (report.skipped && iteration < 40) {
    report = training.step.run(++iteration, 1, 2, corpus.from(0, 2));
    EXPECT_EQ(report.learning_rate, rate);  // schedules count made updates only
  }
  ASSERT_FALSE(report.skipped);
  EXPECT_LT(report.loss_scale, 4294967296);
  EXPECT_NE(training.weights(), before);
  EXPECT_TRUE(std::isfinite(report.grad_norm));
  EXPECT_LT(training.step.run(++iteration, 1, 2, corpus.from(2, 2)).learning_rate, rate);
}

/// A constant scale keeps an overflow out of the weights and stays as it is. fp32 has one with the
/// distributed optimizer only.
TEST_F(TrainStepTest, AnOverflowUnderAConstantScaleSkipsTheUpdate) {
  using Flags = std::vector<std::string>;
  TinyCorpus corpus;
  const std::vector<float> infinite(16, std::numeric_limits<float>::infinity());
  const auto overflow = [&] {
    HostMicrobatch microbatch = corpus.rows(0, 2);
    microbatch.columns.set(models::kLossMask, infinite);
    return microbatch;
  };
  for (const auto& [flags, scale] :
       {std::pair(Flags{"--bf16", "--loss-scale", "128"}, 128.0),
        std::pair(Flags{"--use-distributed-optimizer", "--loss-scale", "128"}, 128.0),
        std::pair(Flags{"--loss-scale", "128"}, 1.0), std::pair(Flags{"--bf16"}, 1.0)}) {
    TinyTraining training(*device_, tiny_run(flags));
    const std::vector<double> before = training.weights();
    const StepReport report = training.step.run(1, 1, 2, overflow);
    EXPECT_EQ(report.skipped, scale > 1) << flags[0];
    EXPECT_EQ(training.weights() == before, scale > 1) << flags[0];
    EXPECT_EQ(report.loss_scale, scale) << flags[0];
    EXPECT_EQ(training.step.loss_scaler().scale(), scale) << flags[0];
  }
}

TEST_F(TrainStepTest, EvaluationNeitherDropsNorTrains) {
  TinyCorpus corpus(true);
  TinyTraining training(*device_, tiny_run({"--hidden-dropout", "0.5"}));
  const std::vector<double> before = training.weights();
  const StepReport four = training.step.evaluate(4, corpus.from(0, 2));
  const StepReport one = training.step.evaluate(1, corpus.from(0, 8));
  EXPECT_EQ(four.tokens, 36);
  EXPECT_NEAR(four.loss_sum, one.loss_sum, 1e-4);
  EXPECT_EQ(training.weights(), before);
  const StepReport trained = training.step.run(1, 1, 8, corpus.from(0, 8));
  EXPECT_GT(std::abs(trained.loss() - one.loss()), 1e-3);
}

/// Also with experts that are filled up to their capacity, whatever the tokens choose.
TEST_F(TrainStepTest, TheMemoryOfASteadyStepIsFlat) {
  const std::vector<std::string> kinds[] = {
      {"--recompute-granularity", "selective", "--recompute-modules", "mlp"},
      {"--disable-bias-linear", "--num-experts", "4", "--moe-aux-loss-coeff", "0.1",
       "--moe-expert-capacity-factor", "1.0", "--moe-pad-expert-input-to-capacity"},
      {"--disable-bias-linear", "--num-experts", "4", "--moe-expert-capacity-factor", "1.0",
       "--moe-pad-expert-input-to-capacity", "--recompute-granularity", "selective",
       "--recompute-modules", "moe_act"}};
  for (const std::vector<std::string>& kind : kinds) {
    const auto device = device::make_device("reference");
    TinyCorpus corpus;
    TinyTraining training(*device, tiny_run(kind));
    device::AllocatorStatistics third{};
    for (Index iteration = 1; iteration <= 20; ++iteration) {
      training.step.run(iteration, 4, 8, corpus.from(8 * iteration, 2));
      const device::AllocatorStatistics now = device->allocator().statistics();
      if (iteration == 3) {
        third = now;
      } else if (iteration > 3) {
        EXPECT_EQ(now.system_allocations, third.system_allocations);
        EXPECT_EQ(now.bytes_in_use, third.bytes_in_use);
        EXPECT_EQ(now.bytes_reserved, third.bytes_reserved);
        EXPECT_EQ(now.high_water, third.high_water) << iteration;
      }
    }
  }
}

/// What the host has to read and write is copied to and fro: with memory of its own a device
/// computes the same bits, and takes none from the system in a steady step.
TEST_F(TrainStepTest, ADeviceWithMemoryOfItsOwnComputesTheSame) {
  const std::vector<std::vector<std::string>> kinds = {
      {"--swiglu", "--ffn-hidden-size", "32", "--position-embedding-type", "rope", "--bf16"},
      {"--disable-bias-linear", "--num-experts", "4", "--moe-aux-loss-coeff", "0.1",
       "--moe-z-loss-coeff", "0.1", "--moe-router-score-function", "sigmoid",
       "--moe-router-enable-expert-bias", "--moe-router-topk", "1"},
      {"--mtp-num-layers", "1", "--position-embedding-type", "rope"}};
  for (const std::vector<std::string>& kind : kinds) {
    const auto near = device::make_device("reference");
    const auto far = test::make_far_device();
    TinyCorpus corpus;
    TinyTraining expected(*near, tiny_run(kind)), training(*far, tiny_run(kind));
    Index taken = 0;
    for (Index iteration = 1; iteration <= 4; ++iteration) {
      const StepReport a = expected.step.run(iteration, 4, 8, corpus.from(8 * iteration, 2));
      const StepReport b = training.step.run(iteration, 4, 8, corpus.from(8 * iteration, 2));
      EXPECT_EQ(a.loss(), b.loss());
      EXPECT_EQ(a.grad_norm, b.grad_norm);
      ASSERT_EQ(a.layers.losses.size(), b.layers.losses.size());
      for (std::size_t i = 0; i < a.layers.losses.size(); ++i) {
        EXPECT_EQ(a.layers.losses[i].layers, b.layers.losses[i].layers);
      }
      const Index now = far->allocator().statistics().system_allocations;
      EXPECT_TRUE(iteration < 4 || now == taken) << now - taken;
      taken = now;
    }
    EXPECT_EQ(expected.weights(), training.weights());
    EXPECT_EQ(expected.step.optimizer().zero_gradients(),
              training.step.optimizer().zero_gradients());
  }
}

/// A hash of what three steps leave, in `dtype`: printed by a child of the test below.
TEST(TrainStepBits, DISABLED_Print) {
  for (const std::vector<std::string>& flags :
       {std::vector<std::string>{},
        {"--bf16"},
        {"--swiglu", "--position-embedding-type", "rope"}}) {
    const auto device = device::make_device("host");
    TinyCorpus corpus;
    TinyTraining training(*device, tiny_run(flags));
    double norms = 0;
    for (Index iteration = 1; iteration <= 3; ++iteration) {
      norms += training.step.run(iteration, 4, 8, corpus.from(8 * iteration, 2)).grad_norm;
    }
    std::printf("bits %a", norms);
    for (const double weight : training.weights()) {
      std::printf(" %a", weight);
    }
    std::printf("\n");
  }
}

std::string bits_with_threads(const std::string& threads) {
  const std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
  const std::string command = "OMP_WAIT_POLICY=passive OMP_NUM_THREADS=" + threads + " '" +
                              program +
                              "' --gtest_also_run_disabled_tests "
                              "--gtest_filter=TrainStepBits.DISABLED_Print | grep ^bits";
  std::FILE* pipe = ::popen(command.c_str(), "r");
  std::string text;
  std::array<char, 4096> block{};
  for (std::size_t n = 0; (n = std::fread(block.data(), 1, block.size(), pipe)) > 0;) {
    text.append(block.data(), n);
  }
  ::pclose(pipe);
  return text;
}

TEST(TrainStepBits, DoNotDependOnTheNumberOfThreads) {
  const std::string one = bits_with_threads("1");
  EXPECT_GT(one.size(), 10'000u);
  EXPECT_TRUE(bits_with_threads("2") == one) << "the bits differ";
}

}  // namespace train_step_test
}  // namespace mpitron::train

#include "plan/time/step_time.h"

#include <gtest/gtest.h>

#include "pipeline/simulator.h"
#include "plan/machine/library.h"
#include "plan/planned_run.h"

namespace mpitron::plan {
namespace step_time_test {

constexpr test::Sizes kGpt{.layers = 96, .hidden = 12288, .heads = 96};
constexpr Layout kLayout{.gpus = 1024, .tensor = 8, .pipeline = 8};

Job gpt_175b(const Layout& layout = kLayout) {
  return make_job(test::planned_run(kGpt, 2048, 1536, layout));
}

double seconds(const Machine& machine, const Job& job) {
  return step_time({machine, *Library().stack("megatron"), job}).seconds();
}

/// With stages that take equally long and messages that take no time.
StepTime of_equal_stages(Layout layout, Index batch) {
  config::RunConfig run = test::planned_run(kGpt, 2048, batch, layout);
  run.model.padded_vocab_size = 0;
  Machine machine = *Library().machine("a100-dgx");
  machine.network_bandwidth = machine.link_bandwidth = 1e13;
  machine.network_latency = machine.link_latency = 1e-8;
  return step_time({machine, *Library().stack("megatron"), make_job(run)});
}

TEST(StepTime, BubbleIsThatOfTheSimulator) {
  for (const Index chunks : {1, 2, 4}) {
    for (const Index microbatches : {8, 16, 48}) {
      const Index stages = 8;
      const StepTime step = of_equal_stages(
          {.gpus = 64, .tensor = 8, .pipeline = stages, .chunks = chunks}, microbatches);
      const pipeline::Schedule schedule =
          pipeline::make_schedule({.kind = pipeline::default_kind(stages, chunks),
                                   .stages = stages,
                                   .chunks = chunks,
                                   .microbatches = microbatches});
      EXPECT_NEAR(step.bubble / step.work.sum(), pipeline::simulate(schedule).bubble(), 1e-3)
          << chunks << " chunks, " << microbatches << " microbatches";
    }
  }
}

TEST(StepTime, MoreOfAMachineIsNeverSlower) {
  const Machine base = *Library().machine("h100-dgx");
  const double before = seconds(base, gpt_175b());
  for (double Machine::*field : std::initializer_list<double Machine::*>{
           &Machine::peak_16, &Machine::memory_bandwidth, &Machine::link_bandwidth,
           &Machine::network_bandwidth, &Machine::node_gpus}) {
    Machine better = base;
    better.*field *= 2;
    EXPECT_LE(seconds(better, gpt_175b()), before);
  }
}

/// What the chunks in between hide; the one that ends the step has a sixth of the traffic.
TEST(StepTime, ChunksHideTrafficOfGradients) {
  const Machine machine = *Library().machine("h100-dgx");
  Stack stack = *Library().stack("megatron");
  const auto exposed = [&](Index chunks, double overlap) {
    Layout layout = kLayout;
    layout.chunks = chunks;
    stack.data_overlap = overlap;
    return step_time({machine, stack, gpt_175b(layout)}).data;
  };
  EXPECT_NEAR(exposed(6, 0), exposed(1, 0), 1e-9);
  EXPECT_LT(exposed(6, 1), 0.3 * exposed(1, 1));
  EXPECT_GT(exposed(6, 1), 0);
  EXPECT_LT(exposed(6, 1), exposed(6, 0.5));
}

TEST(StepTime, RecomputeCostsAForwardPass) {
  const Machine machine = *Library().machine("h100-dgx");
  Job job = gpt_175b();
  const double none = seconds(machine, job);
  job.run.model.recompute_granularity = config::RecomputeGranularity::full;
  job.run.model.recompute_method = config::RecomputeMethod::uniform;
  EXPECT_NEAR(seconds(machine, job) / none, 4.0 / 3, 0.06);
  job.run.model.recompute_method = config::RecomputeMethod::block;
  job.run.model.recompute_num_layers = 6;  // of 12
  EXPECT_NEAR(seconds(machine, job) / none, 1 + 0.5 / 3, 0.04);
}

TEST(StepTime, ModulesThatRunAgainCostLessThanLayers) {
  const Machine machine = *Library().machine("h100-dgx");
  Job job = gpt_175b();
  const double none = seconds(machine, job);
  job.run.model.recompute_granularity = config::RecomputeGranularity::selective;
  job.run.model.recompute_modules = {config::RecomputeModule::layernorm};
  const double norms = seconds(machine, job);
  job.run.model.recompute_modules = {config::RecomputeModule::mlp};
  const double mlp = seconds(machine, job);
  EXPECT_LT(none, norms);
  EXPECT_LT(norms, mlp);
  EXPECT_LT(mlp, 4.0 / 3 * none);
}

TEST(StepTime, APracticeOfGradientsGoesBeforeThatOfTheSoftware) {
  const Machine machine = *Library().machine("a100-dgx");
  Stack stack = *Library().stack("megatron-2021");  // reduces behind the passes
  Job job = gpt_175b();
  const double open = step_time({machine, stack, job}).data;
  job.practice.data_overlap = 0.9;
  const double hidden = step_time({machine, stack, job}).data;
  EXPECT_LT(hidden, open);
  job.practice.data_overlap.reset();
  stack.data_overlap = 0.9;
  EXPECT_EQ(step_time({machine, stack, job}).data, hidden);
}

}  // namespace step_time_test
}  // namespace mpitron::plan

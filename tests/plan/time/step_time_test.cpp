#include "plan/time/step_time.h"

#include <numeric>

#include <gtest/gtest.h>

#include "plan/machine/library.h"

namespace mpitron::plan {
namespace step_time_test {

Job gpt_175b() {
  return {.model = {.layers = 96,
                    .hidden = 12288,
                    .ffn = 49152,
                    .heads = 96,
                    .kv_heads = 96,
                    .head_dim = 128,
                    .vocab = 51200,
                    .tied = true},
          .layout = {.gpus = 1024,
                     .tensor = 8,
                     .pipeline = 8,
                     .sequence_parallel = true,
                     .sharding = Sharding::optimizer},
          .sequence = 2048,
          .global_batch = 1536};
}

double seconds(const Machine& machine, const Job& job) {
  const Library library;
  return step_time({machine, *library.stack("megatron"), job}).seconds();
}

TEST(StageLayers, AreAsEvenAsTheyCanBe) {
  EXPECT_EQ(stage_layers(96, 8), std::vector<Index>(8, 12));
  const std::vector<Index> llama = stage_layers(126, 16);  // two fewer at the ends
  EXPECT_EQ(llama.front(), 7);
  EXPECT_EQ(llama.back(), 7);
  EXPECT_EQ(llama[1], 8);
  for (Index layers = 1; layers < 70; ++layers) {
    for (Index stages = 1; stages <= layers; ++stages) {
      const std::vector<Index> split = stage_layers(layers, stages);
      EXPECT_EQ(std::accumulate(split.begin(), split.end(), Index{0}), layers);
      EXPECT_LE(std::ranges::max(split) - std::ranges::min(split), 1) << layers << " " << stages;
    }
  }
}

TEST(StepTime, BubbleIsThatOfOneForwardOneBackward) {
  const Library library;
  Job job = gpt_175b();
  job.model.vocab = 0;  // equal stages
  const Stack stack = *library.stack("megatron-2021");
  const StepTime step = step_time({*library.machine("a100-dgx"), stack, job});
  const double microbatch = step.work.sum() / static_cast<double>(job.microbatches());
  const double send = step.sends / static_cast<double>(job.microbatches());
  EXPECT_NEAR(step.bubble, 7 * (microbatch + send), 1e-3 * step.bubble);
  job.layout.chunks = 4;
  const StepTime interleaved = step_time({*library.machine("a100-dgx"), stack, job});
  EXPECT_LT(interleaved.bubble, step.bubble / 3);
}

TEST(StepTime, MoreOfAMachineIsNeverSlower) {
  const Machine base = *Library().machine("h100-dgx");
  const double before = seconds(base, gpt_175b());
  for (double Machine::*field :
       {&Machine::peak_16, &Machine::memory_bandwidth, &Machine::link_bandwidth,
        &Machine::network_bandwidth, &Machine::node_gpus}) {
    Machine better = base;
    better.*field *= 2;
    EXPECT_LE(seconds(better, gpt_175b()), before);
  }
}

TEST(StepTime, RecomputeCostsAForwardPass) {
  const Machine machine = *Library().machine("h100-dgx");
  Job job = gpt_175b();
  const double none = seconds(machine, job);
  job.layout.recompute = Recompute::full;
  EXPECT_NEAR(seconds(machine, job) / none, 4.0 / 3, 0.06);
}

}  // namespace step_time_test
}  // namespace mpitron::plan

#include <algorithm>
#include <mutex>

#include "train/batches/made_up_corpus.h"
#include "train/layout_cases.h"

// While tokens of one microbatch travel, a pass of another one runs (combined passes,
// delayed weight gradients): no bit changes.

namespace mpitron::train {
namespace expert_overlap_test {

Flags model() {
  return {"--num-layers",
          "4",
          "--hidden-dropout",
          "0.1",
          "--attention-dropout",
          "0.1",
          "--micro-batch-size",
          "1",
          "--bf16",
          "--disable-bias-linear",
          "--num-experts",
          "4",
          "--moe-ffn-hidden-size",
          "24",
          "--moe-aux-loss-coeff",
          "0.1",
          "--moe-token-dispatcher-type",
          "alltoall",
          "--expert-model-parallel-size",
          "2"};
}
const Flags kOverlap{"--overlap-moe-expert-parallel-comm"};
const Flags kDelay{"--overlap-moe-expert-parallel-comm", "--delay-wgrad-compute"};

class ExpertOverlapTest : public ::testing::TestWithParam<Layout> {};

TEST_P(ExpertOverlapTest, ChangesNoBit) {
  const Flags flags = model() + GetParam().flags;
  const LayoutOutcome apart = run_layout(flags, GetParam().ranks);
  for (const Flags& overlap : {kOverlap, kDelay}) {
    SCOPED_TRACE(overlap.back());
    expect_same_bits(run_layout(flags + overlap, GetParam().ranks), apart);
  }
}

const Flags kPipeline{"--pipeline-model-parallel-size", "2",
                      "--num-virtual-stages-per-pipeline-rank", "2"};
const Flags kTensor{"--tensor-model-parallel-size", "2", "--sequence-parallel"};
const Flags kBuckets{"--overlap-grad-reduce", "--ddp-bucket-size", "500"};
const Flags kShared{"--moe-shared-expert-intermediate-size", "16", "--moe-z-loss-coeff", "0.01"};

INSTANTIATE_TEST_SUITE_P(
    Layouts, ExpertOverlapTest,
    ::testing::Values(
        Layout{"ep2", 2, {}},
        Layout{"ep2_swiglu_shared", 2, Flags{"--swiglu", "--ffn-hidden-size", "32"} + kShared},
        Layout{"ep4", 4, {"--expert-model-parallel-size", "4"}},
        Layout{"ep2_every_second_layer", 2, {"--moe-layer-freq", "2"}},
        Layout{"ep2_recomputed",
               2,
               {"--recompute-granularity", "selective", "--recompute-modules", "moe_act",
                "layernorm"}},
        Layout{"ep2_experts_recomputed",
               2,
               {"--recompute-granularity", "selective", "--recompute-modules", "moe"}},
        // The word table gets gradients from three places, with no exchange between two of them.
        Layout{"ep2_dense_prediction",
               2,
               {"--moe-layer-freq", "2", "--mtp-num-layers", "1", "--position-embedding-type",
                "rope"}},
        Layout{
            "ep2_predictions", 2, {"--mtp-num-layers", "1", "--position-embedding-type", "rope"}},
        Layout{"ep2_dp4_sharded", 4,
               kBuckets + Flags{"--use-distributed-optimizer", "--overlap-param-gather"}},
        Layout{"ep2_dp4_buckets", 4, kBuckets},
        Layout{"tp2_sp_ep2", 2, kTensor + Flags{"--expert-tensor-parallel-size", "1"}},
        Layout{"cp2_ep2_etp2",
               4,
               {"--context-parallel-size", "2", "--expert-tensor-parallel-size", "2"}},
        Layout{"ep2_pp2_vpp2", 4, kPipeline},
        Layout{"ep2_pp2_vpp2_buckets", 8, kPipeline + kBuckets}),
    [](const auto& info) { return info.param.name; });

/// Iterations of four microbatches on each of two ranks; `after` sees every one.
void train_on_two_ranks(
    const Flags& flags, Index iterations, Trace* trace,
    const std::function<void(Index iteration, const device::AllocatorStatistics&)>& after) {
  const config::RunConfig config = tiny_run(model() + flags, 2);
  std::mutex mutex;
  comm::run_thread_world(2, [&](comm::World& world) {
    const auto device = device::make_device("reference");
    TrainedModel model(*device, config, world);
    Timers timers(0, config::TimingLogOption::max);
    timers.set_trace(world.rank() == 0 ? trace : nullptr);
    TrainStep step(*device, model, config, timers);
    MadeUpCorpus corpus(config.model);
    Index first = world.rank();
    const auto next = [&] { return corpus.rows(std::exchange(first, first + 2), 1); };
    for (Index iteration = 1; iteration <= iterations; ++iteration) {
      step.run(iteration, 4, 8, next);
      world.all()->barrier();
      const std::lock_guard lock(mutex);
      if (world.rank() == 0) {
        after(iteration, device->allocator().statistics());
      }
    }
    world.all()->barrier();  // nobody's memory may go while others read it
  });
}

/// Backward passes run inside the forward pass of the next microbatch, in several parts.
TEST(ExpertOverlap, PassesOfTwoMicrobatchesRunByTurns) {
  Trace trace;
  trace.start();
  train_on_two_ranks(kOverlap, 1, &trace, [](Index, const auto&) {});
  int inside = 0, all = 0;
  const auto spans = trace.stop();
  for (const TraceSpan& inner : spans) {
    if (inner.kind != TraceKind::pass || inner.name != trace_name("backward-compute")) {
      continue;
    }
    ++all;
    inside += std::ranges::any_of(spans, [&](const TraceSpan& outer) {
      return outer.name == trace_name("forward-compute") &&
             outer.microbatch == inner.microbatch + 1 && outer.begin <= inner.begin &&
             inner.end <= outer.end;
    });
  }
  // Each of 4 layers cuts a pass twice. Three of four backward passes run beside a forward pass; it
  // has as many gaps, so that one part of nine is left.
  EXPECT_EQ(all, 4 * 9);
  EXPECT_EQ(inside, 3 * 8);
}

TEST(ExpertOverlap, FilledExpertsTakeNoMoreMemoryStepByStep) {
  const Flags filled{"--moe-expert-capacity-factor", "1.0", "--moe-pad-expert-input-to-capacity"};
  for (const Flags& overlap : {Flags{}, kDelay}) {
    device::AllocatorStatistics third{};
    train_on_two_ranks(filled + overlap, 10, nullptr, [&](Index iteration, const auto& now) {
      if (iteration == 3) {
        third = now;
      } else if (iteration > 3) {
        EXPECT_EQ(now.system_allocations, third.system_allocations);
        EXPECT_EQ(now.bytes_in_use, third.bytes_in_use);
        EXPECT_EQ(now.high_water, third.high_water);
      }
    });
  }
}

}  // namespace expert_overlap_test
}  // namespace mpitron::train

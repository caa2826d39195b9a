#include <atomic>

#include "train/layout_cases.h"
#include "train/made_up_corpus.h"

// While tokens of one microbatch travel, a pass of another one runs (combined passes,
// delayed weight gradients): no bit changes.

namespace mpitron::train {
namespace {

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

struct Layout {
  const char* name;
  Index ranks;
  Flags flags;
};
void PrintTo(const Layout& layout, std::ostream* out) {
  *out << layout.name;
}

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

/// Backward passes run inside the forward pass of the next microbatch, in several parts.
TEST(ExpertOverlap, PassesOfTwoMicrobatchesRunByTurns) {
  const config::RunConfig config = tiny_run(model() + kOverlap, 2);
  std::atomic<int> inside = 0, all = 0;
  comm::run_thread_world(2, [&](comm::World& world) {
    const auto device = device::make_device("reference");
    TrainedModel model(*device, config, world);
    Timers timers(0, config::TimingLogOption::max);
    Trace trace;
    timers.set_trace(&trace);
    TrainStep step(*device, model, config, timers);
    MadeUpCorpus corpus(config.model);
    Index first = world.rank();
    trace.start();
    step.run(1, 4, 8, [&] { return corpus.rows(std::exchange(first, first + 2), 1); });
    const auto spans = trace.stop();
    for (const auto& outer : spans) {
      for (const auto& inner : spans) {
        const bool passes = outer.kind == TraceKind::pass && inner.kind == TraceKind::pass;
        inside += passes && inner.microbatch + 1 == outer.microbatch &&
                          outer.begin <= inner.begin && inner.end <= outer.end
                      ? 1
                      : 0;
      }
      all += outer.kind == TraceKind::pass && outer.name == trace_name("backward-compute") ? 1 : 0;
    }
    world.all()->barrier();
  });
  // Each of 4 layers cuts a pass twice. Three of four backward passes run beside a forward pass;
  // it has as many gaps, so that one part of nine is left.
  EXPECT_EQ(all, 2 * 4 * 9);
  EXPECT_EQ(inside, 2 * 3 * 8);
}

}  // namespace
}  // namespace mpitron::train

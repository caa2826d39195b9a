#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "comm/groups/device_world.h"
#include "device/copy.h"
#include "emulator/nccl/emulated_nccl.h"
#include "train/layout_cases.h"

namespace mpitron::train {
namespace nccl_order_test {

struct NcclLayout {
  const char* name;
  Index ranks;
  Flags flags;
  std::set<std::string> calls;  // that it must make
};
void PrintTo(const NcclLayout& layout, std::ostream* out) {
  *out << layout.name;
}

/// Two iterations with a thread and a GPU for each rank: losses and gradient norms.
LayoutOutcome run_on_gpus(const config::RunConfig& run) {
  LayoutOutcome outcome;
  comm::run_thread_world(run.parallel.world_size, [&](comm::World& ranks) {
    const auto device = device::make_cuda_device(0);
    const std::shared_ptr<comm::World> host(&ranks, [](comm::World*) {});
    const auto world =
        comm::world_for_device(host, *device, {.registers_buffers = run.parallel.nccl_ub});
    TrainedModel model(*device, run, *world);
    Timers timers(0, config::TimingLogOption::max);
    TrainStep step(*device, model, run, timers);
    TinyCorpus corpus;
    const Index rows = run.training.micro_batch_size, batch = run.training.global_batch_size;
    const Index all_rows = rows * model.groups().data->size();
    for (Index iteration = 1; iteration <= 2; ++iteration) {
      Index first = batch * (iteration - 1) + rows * model.groups().data->rank();
      const auto next = [&] { return corpus.rows(std::exchange(first, first + all_rows), rows); };
      const StepReport report = step.run(iteration, batch / all_rows, batch, next);
      if (world->rank() == 0) {
        outcome.losses.push_back(report.loss());
        outcome.grad_norms.push_back(report.grad_norm);
      }
    }
    step.replicas().make_whole();
    device::synchronize(device->stream());
    world->all()->barrier();
  });
  return outcome;
}

class NcclOrderTest : public ::testing::TestWithParam<NcclLayout> {};

/// The emulated NCCL ends the process where ranks disagree on a call.
TEST_P(NcclOrderTest, RanksAgreeOnEveryCallAndTrainAsOneDoes) {
  emulator::take_nccl_histories();
  const LayoutOutcome layout = run_on_gpus(tiny_run(GetParam().flags, GetParam().ranks));
  std::set<std::string> calls;
  for (const emulator::NcclHistory& history : emulator::take_nccl_histories()) {
    for (const std::vector<emulator::NcclCall>& rank : history.ranks) {
      for (const emulator::NcclCall& call : rank) {
        calls.insert(call.what);
      }
    }
  }
  EXPECT_EQ(calls, GetParam().calls);
  const LayoutOutcome alone = run_on_gpus(tiny_run());
  ASSERT_EQ(layout.losses.size(), 2U);
  for (std::size_t i = 0; i < 2; ++i) {
    EXPECT_NEAR(layout.losses[i], alone.losses[i], 1e-5 * alone.losses[i]) << i;
    EXPECT_NEAR(layout.grad_norms[i], alone.grad_norms[i], 1e-4 * alone.grad_norms[i]) << i;
  }
}

class NcclBuffersTest : public ::testing::TestWithParam<Flags> {};

/// Sums of gradients and gathers of parameters, and nothing else, are in registered memory.
TEST_P(NcclBuffersTest, AreRegisteredAndChangeNoBit) {
  const Flags& sharded = GetParam();
  const LayoutOutcome plain = run_on_gpus(tiny_run(sharded, 2));
  for (const emulator::NcclHistory& history : emulator::take_nccl_histories()) {
    EXPECT_EQ(history.registered, std::vector<std::size_t>(history.ranks.size()));
  }
  const LayoutOutcome registered = run_on_gpus(tiny_run(sharded + Flags{"--use-nccl-ub"}, 2));
  EXPECT_EQ(registered.losses, plain.losses);
  EXPECT_EQ(registered.grad_norms, plain.grad_norms);
  std::size_t found = 0;
  for (const emulator::NcclHistory& history : emulator::take_nccl_histories()) {
    for (std::size_t rank = 0; rank < history.ranks.size(); ++rank) {
      const auto of_buffers =
          std::ranges::count_if(history.ranks[rank], [](const emulator::NcclCall& call) {
            const std::string what = call.what;
            return what == "reduce_scatter" || what == "all_gather";
          });
      EXPECT_EQ(history.registered[rank], static_cast<std::size_t>(of_buffers));
      found += history.registered[rank];
    }
  }
  EXPECT_GE(found, 2U * 2U * 2U * 3U);  // ranks, iterations, directions, buckets or layers
  EXPECT_EQ(emulator::nccl_blocks(), 0U);
}

const Flags kFullySharded = {"--use-megatron-fsdp", "--ckpt-format", "fsdp_dtensor",
                             "--data-parallel-sharding-strategy"};
INSTANTIATE_TEST_SUITE_P(
    Shardings, NcclBuffersTest,
    ::testing::Values(Flags{"--use-distributed-optimizer", "--overlap-grad-reduce",
                            "--overlap-param-gather", "--ddp-num-buckets", "3"},
                      kFullySharded + Flags{"optim_grads"},
                      kFullySharded + Flags{"optim_grads_params", "--overlap-grad-reduce"},
                      kFullySharded + Flags{"optim_grads_params", "--fsdp-double-buffer"}));

INSTANTIATE_TEST_SUITE_P(
    Layouts, NcclOrderTest,
    ::testing::Values(
        NcclLayout{"tp2_pp2_dp2",
                   8,
                   {"--tensor-model-parallel-size", "2", "--sequence-parallel",
                    "--pipeline-model-parallel-size", "2", "--use-distributed-optimizer",
                    "--overlap-grad-reduce", "--micro-batch-size", "2"},
                   {"all_gather", "all_reduce", "broadcast", "receive", "reduce_scatter", "send"}},
        NcclLayout{
            "cp2_dp2", 4, {"--context-parallel-size", "2"}, {"all_reduce", "receive", "send"}}),
    [](const auto& info) { return info.param.name; });

}  // namespace nccl_order_test
}  // namespace mpitron::train

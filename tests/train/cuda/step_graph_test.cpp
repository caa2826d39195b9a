#include "train/step/step_graph.h"

#include <gtest/gtest.h>

#include "comm/groups/device_world.h"
#include "device/copy.h"
#include "train/layout_cases.h"
#include "utils/error.h"

namespace mpitron::train {
namespace step_graph_test {

const Flags kGraph = {"--enable-cuda-graph", "--cuda-graph-scope", "full_iteration",
                      "--cuda-graph-warmup-steps", "1"};
const Flags kExperts = {"--num-layers",
                        "1",
                        "--disable-bias-linear",
                        "--num-experts",
                        "4",
                        "--moe-router-topk",
                        "2",
                        "--moe-aux-loss-coeff",
                        "0.1",
                        "--moe-input-jitter-eps",
                        "0.01",
                        "--moe-expert-capacity-factor",
                        "1.5",
                        "--moe-pad-expert-input-to-capacity",
                        "--moe-token-dispatcher-type",
                        "alltoall"};
const Flags kEightBits = {"--num-layers", "1", "--bf16", "--fp8-format", "hybrid"};

struct GraphCase {
  const char* name;
  Flags flags;
  Index ranks = 1;
};
void PrintTo(const GraphCase& one, std::ostream* out) {
  *out << one.name;
}

class StepGraphTest : public ::testing::TestWithParam<GraphCase> {
 protected:
  /// Losses, gradient norms and what layers tell of each step, on rank 0: of one that runs, one
  /// that is recorded, one that is repeated, and one with other microbatches.
  static std::vector<double> train(const Flags& more) {
    const config::RunConfig run = tiny_run(GetParam().flags + more, GetParam().ranks);
    std::vector<double> told;
    comm::run_thread_world(GetParam().ranks, [&](comm::World& ranks) {
      const auto device = device::make_cuda_device(0);
      const std::shared_ptr<comm::World> host(&ranks, [](comm::World*) {});
      const auto world = comm::world_for_device(host, *device);
      TrainedModel model(*device, run, *world);
      Timers timers(0, config::TimingLogOption::max);
      TrainStep step(*device, model, run, timers);
      for (Index iteration = 1; iteration <= 4; ++iteration) {
        const Index microbatches = iteration < 4 ? 2 : 1;
        TinyCorpus corpus(iteration == 4);
        const Index replicas = model.groups().data->size(), replica = model.groups().data->rank();
        Index first = 8 * iteration + 2 * replica;
        const auto next = [&] {
          return corpus.rows(std::exchange(first, first + 2 * replicas), 2);
        };
        const StepReport report =
            step.run(iteration, microbatches, 2 * microbatches * replicas, next);
        // Makes the weights' numbers of 8 bits outside the graph.
        first = 64;
        const StepReport seen = step.evaluate(1, next);
        if (world->rank() == 0) {
          told.insert(told.end(), {report.loss(), report.grad_norm, seen.loss()});
          for (const LayerLosses& loss : report.layers.losses) {
            told.insert(told.end(), loss.layers.begin(), loss.layers.end());
          }
        }
      }
      step.replicas().make_whole();
      device::synchronize(device->stream());
      world->all()->barrier();
    });
    return told;
  }
};

TEST_P(StepGraphTest, ComputesWhatTheStepItselfDoes) {
  const std::vector<double> plain = train({});
  EXPECT_EQ(train(kGraph), plain);
  EXPECT_NE(plain[0], plain[3]);
}

INSTANTIATE_TEST_SUITE_P(
    Models, StepGraphTest,
    ::testing::Values(
        GraphCase{"dropout", {"--hidden-dropout", "0.2", "--attention-dropout", "0.3"}},
        GraphCase{"experts_ep2", kExperts + Flags{"--expert-model-parallel-size", "2"}, 2},
        GraphCase{"fp8_experts_ep2",
                  kExperts + Flags{"--bf16", "--fp8-format", "hybrid",
                                   "--expert-model-parallel-size", "2"},
                  2},
        GraphCase{"fp8", kEightBits},
        GraphCase{"fp8_blockwise", kEightBits + Flags{"--fp8-recipe", "blockwise"}},
        GraphCase{"tp2", {"--tensor-model-parallel-size", "2", "--sequence-parallel"}, 2},
        GraphCase{"pp2", {"--pipeline-model-parallel-size", "2"}, 2}),
    [](const auto& info) { return info.param.name; });

}  // namespace step_graph_test
}  // namespace mpitron::train

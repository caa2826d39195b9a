#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "comm/worlds/mpi_world.h"
#include "support/program.h"
#include "support/temporary_folder.h"
#include "train/layout_cases.h"

// The same bits from the same layout, wherever its ranks lie and however many threads they have:
// on one node, on two of which each has every other rank, on two unequal ones, and each alone
// (then all groups send messages).

namespace mpitron::train {
namespace placement_test {

/// Steps with dropout in bf16, eight ranks: every kind of group has work.
Flags layout() {
  return {"--num-layers",
          "4",
          "--bf16",
          "--micro-batch-size",
          "1",
          "--tensor-model-parallel-size",
          "2",
          "--sequence-parallel",
          "--pipeline-model-parallel-size",
          "2",
          "--pipeline-schedule",
          "zero-bubble",
          "--use-distributed-optimizer",
          "--overlap-grad-reduce",
          "--overlap-param-gather",
          "--ddp-bucket-size",
          "500"};
}

/// One rank of the test below: node of each rank by environment, what it ends with into a file.
TEST(Placement, DISABLED_Rank) {
  constexpr Index kIterations = 3, kBatch = 8;
  const std::string nodes = std::getenv("MPITRON_TEST_NODES");
  const auto world = comm::make_mpi_world(
      {.node_of = [&](Index rank) { return nodes[static_cast<std::size_t>(rank)]; }});
  const auto device = device::make_device("host", world->make_allocator());
  const config::RunConfig config = tiny_run(layout(), world->size());
  TrainedModel model(*device, config, *world);
  Timers timers(0, config::TimingLogOption::max);
  TrainStep step(*device, model, config, timers);
  TinyCorpus corpus;
  std::ofstream file("rank" + std::to_string(world->rank()));
  const Index replicas = config.parallel.data_parallel_size;
  for (Index iteration = 1; iteration <= kIterations; ++iteration) {
    Index first = kBatch * (iteration - 1) + model.groups().data->rank();
    const auto next = [&] { return corpus.rows(std::exchange(first, first + replicas), 1); };
    const StepReport report = step.run(iteration, kBatch / replicas, kBatch, next);
    file << fmt::format("{:a} {:a}\n", report.loss(), report.grad_norm);
  }
  step.replicas().make_whole();
  for (const autograd::Parameter& parameter : model.parameters()) {
    file << parameter.name;
    for (const double value : test::values_of(parameter.value)) {
      file << fmt::format(" {:a}", value);
    }
    file << '\n';
  }
  world->all()->barrier();
}

std::string bits(const std::string& nodes, const std::string& threads) {
  const test::TemporaryFolder folder;
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  const test::Finished end =
      test::run_program(folder.path(),
                        {"-n", std::to_string(nodes.size()), self,
                         "--gtest_also_run_disabled_tests", "--gtest_filter=Placement.*Rank"},
                        {.variables = {{"MPITRON_TEST_NODES", nodes},
                                       {"OMP_NUM_THREADS", threads},
                                       {"OMP_WAIT_POLICY", "passive"},
                                       {"OMPI_ALLOW_RUN_AS_ROOT", "1"},
                                       {"OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1"},
                                       {"OMPI_MCA_rmaps_base_oversubscribe", "1"},
                                       {"OMPI_MCA_hwloc_base_binding_policy", "none"},
                                       {"OMPI_MCA_mpi_yield_when_idle", "1"},
                                       // Tells MPI's leaks from ours (support/lsan.supp).
                                       {"ASAN_OPTIONS", "fast_unwind_on_malloc=0"}},
                         .limit = std::chrono::seconds(120)});
  EXPECT_EQ(end.code, 0) << end.out << end.err;
  std::string all;
  for (std::size_t rank = 0; rank < nodes.size(); ++rank) {
    std::ifstream file(folder.path() / ("rank" + std::to_string(rank)));
    all.append(std::istreambuf_iterator<char>(file), {});
  }
  return all;
}

TEST(Placement, MovesNoBit) {
  const std::string one_node = bits("00000000", "1");
  EXPECT_GT(one_node.size(), 100'000u);
  EXPECT_TRUE(bits("01010101", "1") == one_node) << "every other rank on a second node";
  EXPECT_TRUE(bits("21102001", "2") == one_node) << "three unequal nodes, two threads";
  EXPECT_TRUE(bits("01234567", "1") == one_node) << "every rank on its own";
  EXPECT_TRUE(bits("00000000", "3") == one_node) << "three threads";
}

}  // namespace placement_test
}  // namespace mpitron::train

#include "cli/run/launch.h"

#include <fstream>

#include <gtest/gtest.h>

#include "cli/tiny_run.h"
#include "support/temporary_folder.h"

namespace mpitron::cli {

namespace launch_test {

using namespace mpitron::test;

const Words kRun = kTinyMock + Words{"--save", "run", "--tensorboard-dir", "tensorboard"};

TEST(Launch, CopiesOfAOneRankJobAreRefusedBeforeAnythingIsWritten) {
  const TemporaryFolder folder;
  const Finished finished = run_program(
      folder.path(), kRun, {.variables = {{"SLURM_STEP_NUM_TASKS", "4"}, {"SLURM_PROCID", "0"}}});
  EXPECT_EQ(finished.code, 3);
  EXPECT_EQ(finished.out, "");
  EXPECT_TRUE(contains(finished.err, "srun --mpi=pmix")) << finished.err;
  EXPECT_FALSE(std::filesystem::exists(folder / "run"));
  EXPECT_FALSE(std::filesystem::exists(folder / "tensorboard"));
}

TEST(Launch, OnlyTheFirstOfTheCopiesSpeaks) {
  const TemporaryFolder folder;
  const Finished finished = run_program(
      folder.path(), kRun, {.variables = {{"SLURM_STEP_NUM_TASKS", "4"}, {"SLURM_PROCID", "2"}}});
  EXPECT_EQ(finished.code, 3);
  EXPECT_EQ(finished.err, "");
}

TEST(Launch, WarnsOfAProcessAloneInALargerJob) {
  const TemporaryFolder folder;
  const Finished finished =
      run_program(folder.path(), {"io-bench", ".", "--megabytes", "1", "--repetitions", "1"},
                  {.variables = {{"SLURM_NTASKS", "8"}, {"OMP_NUM_THREADS", "1"}}});
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_TRUE(contains(finished.err, "this Slurm job has 8 tasks")) << finished.err;
}

TEST(Launch, WarnsOfThreadsThatHaveNoProcessor) {
  const TemporaryFolder folder;
  const Finished finished =
      run_program(folder.path(), {"io-bench", ".", "--megabytes", "1", "--repetitions", "1"},
                  {.variables = {{"OMP_NUM_THREADS", "5000"}}});
  EXPECT_EQ(finished.code, 0) << finished.err;
  EXPECT_TRUE(contains(finished.err, "rank 0: 5000 threads on")) << finished.err;
}

TEST(RunDevice, OptionsOfTheTransportBecomeThoseOfItsGroups) {
  const mpitron::test::TemporaryFolder folder;
  config::ParallelConfig parallel;
  parallel.high_priority_stream_groups = {"pp"};
  parallel.nccl_communicator_config_path = (folder.path() / "nccl.yaml").string();
  std::ofstream(*parallel.nccl_communicator_config_path) << "tp: {max_ctas: 8}\n";
  const comm::DeviceTransport transport = device_transport(parallel);
  EXPECT_FALSE(transport.through_host);
  EXPECT_EQ(transport.high_priority,
            (std::set<std::string>{"pipeline", "pipeline-activations", "pipeline-gradients"}));
  ASSERT_EQ(transport.limits.size(), 1U);
  EXPECT_EQ(transport.limits.at("tensor").max_ctas, 8);
  EXPECT_FALSE(transport.limits.at("tensor").in_switches);
  parallel.sharp_enabled_group = "dp";
  EXPECT_TRUE(device_transport(parallel).limits.at("data_context").in_switches);
  parallel.sharp_enabled_group = "dp_replica";
  EXPECT_TRUE(device_transport(parallel).limits.at("parameters_instance_1").in_switches);
  EXPECT_FALSE(device_transport(parallel).registers_buffers);
  parallel.nccl_ub = true;
  EXPECT_TRUE(device_transport(parallel).registers_buffers);
  parallel.distributed_backend = config::DistributedBackend::mpi;
  EXPECT_TRUE(device_transport(parallel).through_host);
}

}  // namespace launch_test

}  // namespace mpitron::cli

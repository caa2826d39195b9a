#include "cli/run/run_device.h"

#include <fstream>

#include <gtest/gtest.h>

#include "support/temporary_folder.h"

namespace mpitron::cli {
namespace run_device_test {

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

}  // namespace run_device_test
}  // namespace mpitron::cli

#include "doctor/node_checks.h"

#include <set>

#include <gtest/gtest.h>

namespace mpitron::doctor {
namespace node_checks_test {

TEST(NodeChecks, EveryCheckSpeaks) {
  const ThisProgram program{
      .environment = {{"NCCL_SOCKET_IFNAME", "no-such-interface"}, {"SLURM_NTASKS", "8"}},
      .mpi = {.version = "Open MPI v4.1.4", .knows_pmi = false},
      .libraries = {{"HDF5", "1.10.8", "1.12.0"}},
      .has_cuda = false};
  std::set<std::string> names, failures;
  for (const CheckResult& result : check_node(program)) {
    names.insert(result.name);
    EXPECT_FALSE(result.found.empty()) << result.name;
    EXPECT_TRUE(result.verdict != Verdict::fail || !result.advice.empty()) << result.name;
    if (result.verdict == Verdict::fail) {
      failures.insert(result.name);
    } else if (result.name == "launch") {
      EXPECT_EQ(result.verdict, Verdict::warn);
    }
  }
  for (const char* name : {"machine", "libraries", "launch", "slurm", "/dev/shm", "locked memory",
                           "open files", "NCCL_SOCKET_IFNAME", "gpu"}) {
    EXPECT_TRUE(names.contains(name)) << name;
  }
  EXPECT_TRUE(failures.contains("libraries"));
  EXPECT_TRUE(failures.contains("NCCL_SOCKET_IFNAME"));
}

}  // namespace node_checks_test
}  // namespace mpitron::doctor

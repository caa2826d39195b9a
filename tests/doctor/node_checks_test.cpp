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

const device::Gpu kGpu{.name = "NVIDIA H200",
                       .uuid = "GPU-5e1c",
                       .pci_bus_id = "0000:1b:00.0",
                       .major = 9,
                       .minor = 0,
                       .bytes = Index{141} << 30};
const GpuFacts kNode{.devices = {"/dev/nvidia0", "/dev/nvidia1"},
                     .has_driver = true,
                     .built_with_cuda = true,
                     .visible = {.gpus = {kGpu}, .why_none = ""}};

TEST(GpuCheck, WithoutGpusItIsSkipped) {
  EXPECT_EQ(check_gpus({}, {}).verdict, Verdict::skipped);
}

TEST(GpuCheck, CountsThemAndNamesThoseThatItSees) {
  const CheckResult result = check_gpus(kNode, {});
  EXPECT_EQ(result.verdict, Verdict::ok);
  EXPECT_EQ(result.found,
            "2 GPUs; NVIDIA H200 at 0000:1b:00.0 (GPU-5e1c, compute capability 9.0, 141 GiB)");
}

TEST(GpuCheck, TellsWhyTheProgramSeesNone) {
  GpuFacts facts = kNode;
  facts.visible = {.gpus = {}, .why_none = "the driver is too old"};
  const CheckResult result = check_gpus(facts, {});
  EXPECT_EQ(result.verdict, Verdict::fail);
  EXPECT_EQ(result.advice, "the driver is too old");
}

TEST(GpuCheck, NamesWhatHidesThem) {
  GpuFacts facts = kNode;
  EXPECT_EQ(check_gpus(facts, {{"CUDA_VISIBLE_DEVICES", ""}}).verdict, Verdict::warn);
  EXPECT_EQ(check_gpus(facts, {{"CUDA_VISIBLE_DEVICES", "0"}}).verdict, Verdict::ok);
  facts.built_with_cuda = false;
  EXPECT_NE(check_gpus(facts, {}).advice.find("make cuda"), std::string::npos);
  facts.has_driver = false;
  EXPECT_EQ(check_gpus(facts, {}).verdict, Verdict::fail);
  EXPECT_NE(check_gpus(facts, {}).advice.find("--gpus all"), std::string::npos);
}

TEST(GpuCheck, ReadsThisMachine) {
  const GpuFacts facts = read_gpus(true);
  EXPECT_TRUE(facts.built_with_cuda);
  EXPECT_EQ(check_gpus(facts, {}).verdict == Verdict::skipped, facts.devices.empty());
}

}  // namespace node_checks_test

}  // namespace mpitron::doctor

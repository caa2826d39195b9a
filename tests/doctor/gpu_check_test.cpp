#include "doctor/gpu_check.h"

#include <gtest/gtest.h>

namespace mpitron::doctor {
namespace {

const GpuFacts kNode{
    .devices = {"/dev/nvidia0", "/dev/nvidia1"}, .has_driver = true, .built_with_cuda = true};

TEST(GpuCheck, WithoutGpusItIsSkipped) {
  EXPECT_EQ(check_gpus({}, {}).verdict, Verdict::skipped);
}

TEST(GpuCheck, CountsThem) {
  const CheckResult result = check_gpus(kNode, {});
  EXPECT_EQ(result.verdict, Verdict::ok);
  EXPECT_EQ(result.found, "2 GPUs");
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

}  // namespace
}  // namespace mpitron::doctor

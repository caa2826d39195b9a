#include "train/attention_tuning.h"

#include <gtest/gtest.h>

#include "train/tiny_run.h"

namespace mpitron::train {
namespace {

using kernels::AttentionKernel;
using kernels::AttentionShape;

const std::vector<std::string> kHalf = {"--bf16", "--attention-dropout", "0"};

std::vector<AttentionShape> shapes(const std::vector<std::string>& more) {
  std::vector<std::string> flags = kHalf;
  flags.insert(flags.end(), more.begin(), more.end());
  return tunable_attention(tiny_run(flags));
}

TEST(AttentionTuning, BothPassesOfTheModelsAttentionAreTuned) {
  const config::RunConfig config = tiny_run(kHalf);
  const auto found = tunable_attention(config);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_FALSE(found[0].backward);
  EXPECT_TRUE(found[1].backward);
  for (const AttentionShape& shape : found) {
    EXPECT_EQ(shape.type, DType::bf16);
    EXPECT_EQ(shape.s, config.model.seq_length);
    EXPECT_EQ(shape.b, config.training.micro_batch_size);
    EXPECT_EQ(shape.n, config.model.num_attention_heads);
    EXPECT_EQ(shape.d, config.model.kv_channels);
    EXPECT_TRUE(shape.causal);
    EXPECT_EQ(shape.window, -1);
  }
  config::RunConfig sliding = config;
  sliding.model.window_size = {5, 0};
  EXPECT_EQ(tunable_attention(sliding).at(0).window, 5);
}

TEST(AttentionTuning, WhatOnlyOurKernelRunsIsNotTuned) {
  EXPECT_TRUE(tunable_attention(tiny_run({"--attention-dropout", "0"})).empty()) << "fp32";
  EXPECT_TRUE(shapes({"--attention-dropout", "0.1"}).empty());
  EXPECT_TRUE(shapes({"--reset-attention-mask"}).empty());
}

TEST(AttentionTuning, ChoicesLieInTheUsersCacheByTheGpusName) {
  const char* const before = std::getenv("XDG_CACHE_HOME");
  const std::string saved = before == nullptr ? "" : before;
  setenv("XDG_CACHE_HOME", "/somewhere", 1);
  EXPECT_EQ(default_tuning_file("NVIDIA H200"), "/somewhere/mpitron/attention-NVIDIA-H200.json");
  before == nullptr ? unsetenv("XDG_CACHE_HOME") : setenv("XDG_CACHE_HOME", saved.c_str(), 1);
}

TEST(AttentionTuning, ABackendIsAnOrderOfKernels) {
  const auto host = device::make_device("host");
  const auto world = comm::make_single_world();
  const auto order = [&](const char* backend) {
    tune_attention(*host, *world, tiny_run({"--attention-backend", backend}));
    return kernels::attention_choices().order;
  };
  EXPECT_EQ(order("fused"),
            (std::vector{AttentionKernel::cudnn, AttentionKernel::wgmma, AttentionKernel::mma}));
  for (const char* backend : {"flash", "auto"}) {
    EXPECT_EQ(order(backend), (std::vector{AttentionKernel::wgmma, AttentionKernel::mma}))
        << backend;
  }
  for (const char* backend : {"unfused", "local"}) {
    EXPECT_EQ(order(backend), std::vector{AttentionKernel::mma}) << backend;
  }
}

}  // namespace
}  // namespace mpitron::train

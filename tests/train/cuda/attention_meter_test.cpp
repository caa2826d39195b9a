#include "train/attention_meter.h"

#include <gtest/gtest.h>

#include "support/corpus.h"
#include "support/temporary_folder.h"
#include "train/attention_tuning.h"
#include "train/tiny_run.h"
#include "utils/files.h"

namespace mpitron::train {
namespace {

using kernels::AttentionKernel;
using kernels::AttentionShape;

AttentionShape small_shape(bool backward) {
  return {backward, DType::bf16, 24, 24, 2, 4, 2, 16, 8, true, -1, false, false, false};
}

TEST(AttentionMeter, MeasuresEveryKernelAndTakesTheFastest) {
  const auto gpu = device::make_cuda_device(0);
  const kernels::AttentionChoices before = kernels::attention_choices();
  for (const bool backward : {false, true}) {
    const MeasuredAttention measured = AttentionMeter(*gpu, small_shape(backward)).measure();
    EXPECT_EQ(measured.shape, small_shape(backward));
    EXPECT_TRUE(measured.microseconds.contains(AttentionKernel::mma));
    EXPECT_TRUE(measured.microseconds.contains(AttentionKernel::wgmma));
    EXPECT_TRUE(measured.microseconds.contains(AttentionKernel::cudnn));
    for (const auto& [kernel, time] : measured.microseconds) {
      EXPECT_LE(measured.microseconds.at(measured.choice), time) << name_of(kernel);
    }
  }
  EXPECT_EQ(kernels::attention_choices().order, before.order) << "as it was";
}

TEST(AttentionMeter, WhatItMeasuresIsTheShapeItWasAskedFor) {
  const auto gpu = device::make_cuda_device(0);
  AttentionShape odd = small_shape(false);
  odd.d = odd.dv = 12;
  EXPECT_EQ(AttentionMeter(*gpu, odd).measure().microseconds.size(), 1u) << "ours alone";
}

class GpuAttentionTuning : public ::testing::Test {
 protected:
  void tune(const std::vector<std::string>& more = {}) {
    std::vector<std::string> flags = {"--bf16", "--attention-dropout", "0", "--tuning-file",
                                      file_.string()};
    flags.insert(flags.end(), more.begin(), more.end());
    tune_attention(*gpu_, *world_, tiny_run(flags));
  }
  void TearDown() override { kernels::attention_choices() = {}; }

  testing::TemporaryFolder folder_;
  std::filesystem::path file_ = folder_.path() / "tuning.json";
  std::unique_ptr<device::Device> gpu_ = device::make_cuda_device(0);
  std::unique_ptr<comm::World> world_ = comm::make_single_world();
};

TEST_F(GpuAttentionTuning, AFilesChoicesAreReadAndNeverMeasuredAgain) {
  tune();
  Tuning tuning = tuning_of(read_file(file_), "file");
  ASSERT_EQ(tuning.attention.size(), 2u);
  for (const AttentionKernel kernel : {AttentionKernel::cudnn, AttentionKernel::mma}) {
    for (MeasuredAttention& measured : tuning.attention) {
      measured.choice = kernel;
    }
    AtomicFile changed(file_);
    changed.write(to_json(tuning));
    changed.commit();
    tune();
    ASSERT_EQ(kernels::attention_choices().by_shape.size(), 2u);
    for (const auto& [shape, choice] : kernels::attention_choices().by_shape) {
      EXPECT_EQ(choice, kernel);
    }
    EXPECT_EQ(read_file(file_), to_json(tuning));
  }
}

TEST_F(GpuAttentionTuning, ShapesThatAFileLacksAreAdded) {
  tune();
  tune({"--micro-batch-size", "1"});
  EXPECT_EQ(tuning_of(read_file(file_), "file").attention.size(), 4u);
}

TEST_F(GpuAttentionTuning, AFileOfAnotherGpuIsRefused) {
  AtomicFile other(file_);
  other.write(to_json({.gpu = "another GPU", .attention = {}}));
  other.commit();
  const std::string message = test::message_of([&] { tune(); });
  EXPECT_NE(message.find("tuning.json: measured on another GPU"), std::string::npos) << message;
}

TEST_F(GpuAttentionTuning, DeterministicRunsMeasureNothingWithoutAFile) {
  tune_attention(*gpu_, *world_,
                 tiny_run({"--bf16", "--attention-dropout", "0", "--deterministic-mode"}));
  EXPECT_TRUE(kernels::attention_choices().by_shape.empty());
  EXPECT_EQ(kernels::attention_choices().order,
            (std::vector{AttentionKernel::wgmma, AttentionKernel::mma}));
}

}  // namespace
}  // namespace mpitron::train

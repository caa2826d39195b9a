#include <gtest/gtest.h>

#include "support/corpus.h"
#include "support/temporary_folder.h"
#include "train/tiny_run.h"
#include "train/tuning/kernel_meters.h"
#include "train/tuning/kernel_tuning.h"
#include "utils/system/files.h"

namespace mpitron::train {
namespace gpu_kernel_tuning_test {

using Flags = std::vector<std::string>;
using kernels::AttentionKernel;

/// Attention is not measured.
const Flags kOurs = {"--attention-backend", "flash"};

/// The passes of the first step of a tiny run, as training makes them.
class GpuKernelTuning : public ::testing::Test {
 protected:
  void TearDown() override {
    kernels::attention_choices() = {};
    kernels::choose_gemm_algorithms({});
  }

  static config::RunConfig run_of(const Flags& more) {
    Flags flags = {"--bf16", "--hidden-size",       "32", "--num-attention-heads",
                   "2",      "--attention-dropout", "0",  "--hidden-dropout",
                   "0"};
    flags.insert(flags.end(), more.begin(), more.end());
    return tiny_run(flags);
  }
  Flags with_file(Flags more = {}) const {
    more.insert(more.end(), {"--tuning-file", file_.string()});
    return more;
  }
  struct Outcome {
    bool completed;
    std::vector<float> gradients;
  };
  /// The gradients of the passes that count.
  Outcome step(const Flags& more) {
    const config::RunConfig config = run_of(more);
    const KernelChoice kernels(*gpu_, config.training, config.model.attention_backend);
    KernelTuning tuning(*gpu_, *world_, config);
    TinyTraining training(*gpu_, config);
    const auto compute = [&] {
      TinyCorpus corpus;
      training.step.compute_gradients(1, 2, corpus.from(0, config.training.micro_batch_size));
      std::vector<float> all;
      for (const autograd::Parameter& parameter : training.model.parameters()) {
        const std::vector<float> one = numbers_of(*gpu_, parameter.sink.main_grad.view());
        all.insert(all.end(), one.begin(), one.end());
      }
      return all;
    };
    Outcome outcome{.completed = false, .gradients = compute()};
    outcome.completed = tuning.complete();
    if (outcome.completed) {
      training.step.kernels_changed();
      outcome.gradients = compute();
    }
    EXPECT_FALSE(tuning.complete()) << "once";
    return outcome;
  }
  Tuning tuning() const { return tuning_of(read_file(file_), "file"); }
  void write(const Tuning& tuning) const {
    AtomicFile changed(file_);
    changed.write(to_json(tuning));
    changed.commit();
  }

  test::TemporaryFolder folder_;
  std::filesystem::path file_ = folder_.path() / "tuning.json";
  std::unique_ptr<device::Device> gpu_ = device::make_cuda_device(0);
  std::unique_ptr<comm::World> world_ = comm::make_single_world();
};

TEST_F(GpuKernelTuning, WhatTheFirstPassesMeetIsMeasuredOnce) {
  const Outcome first = step(with_file());
  EXPECT_TRUE(first.completed);
  const Tuning measured = tuning();
  EXPECT_EQ(measured.attention.size(), 2u) << "forward and backward";
  EXPECT_GE(measured.products.size(), 10u) << "three for each of four matrices, fewer where equal";
  const std::string text = read_file(file_);
  const Outcome second = step(with_file());
  EXPECT_FALSE(second.completed);
  EXPECT_EQ(second.gradients, first.gradients) << "bit for bit";
  EXPECT_EQ(read_file(file_), text);
}

/// Algorithms differ in their bits, so that one which is not read back is found.
TEST_F(GpuKernelTuning, AFilesAlgorithmsRunAndNoOthers) {
  const std::vector<float> untuned = step(kOurs).gradients;
  step(with_file(kOurs));
  const Tuning measured = tuning();
  const auto choose = [&](std::size_t trial) {
    Tuning edited = measured;
    for (MeasuredGemm& product : edited.products) {
      product.choice = std::min(trial, product.tried.size() - 1);
    }
    write(edited);
    const Outcome outcome = step(with_file(kOurs));
    EXPECT_FALSE(outcome.completed);
    return outcome.gradients;
  };
  const std::vector<float> own = choose(0), whole = choose(1), halves = choose(2),
                           thirds = choose(3);
  EXPECT_EQ(own, untuned);
  EXPECT_EQ(own, whole) << "the library's own choice is its first one";
  EXPECT_NE(own, halves);
  EXPECT_NE(own, thirds);
  EXPECT_NE(halves, thirds);
  EXPECT_EQ(halves, choose(2));
}

TEST_F(GpuKernelTuning, AFilesAttentionRunsAndIsNeverMeasuredAgain) {
  step(with_file());
  Tuning edited = tuning();
  for (const AttentionKernel kernel : {AttentionKernel::cudnn, AttentionKernel::mma}) {
    for (MeasuredAttention& measured : edited.attention) {
      measured.choice = kernel;
    }
    write(edited);
    EXPECT_FALSE(step(with_file()).completed);
    ASSERT_EQ(kernels::attention_choices().by_shape.size(), 2u);
    for (const auto& [shape, choice] : kernels::attention_choices().by_shape) {
      EXPECT_EQ(choice, kernel);
    }
  }
}

TEST_F(GpuKernelTuning, WhatAFileLacksIsAdded) {
  step(with_file());
  const std::size_t before = tuning().products.size();
  EXPECT_TRUE(step(with_file({"--micro-batch-size", "1"})).completed);
  EXPECT_EQ(tuning().attention.size(), 4u);
  EXPECT_GT(tuning().products.size(), before);
}

TEST_F(GpuKernelTuning, OtherBackendsLeaveAttentionAlone) {
  EXPECT_TRUE(step(with_file(kOurs)).completed);
  EXPECT_TRUE(tuning().attention.empty());
  EXPECT_FALSE(tuning().products.empty());
}

TEST_F(GpuKernelTuning, AFileOfAnotherGpuIsRefused) {
  write({.gpu = "another GPU"});
  const std::string message = test::message_of([&] { step(with_file()); });
  EXPECT_NE(message.find("tuning.json: measured on another GPU"), std::string::npos) << message;
}

TEST_F(GpuKernelTuning, ProductsOfAnotherLibraryAreMeasuredAgain) {
  step(with_file());
  const Tuning before = tuning();
  Tuning other = before;
  other.cublaslt = 1;
  for (MeasuredGemm& product : other.products) {
    product.tried = {{.algorithm = {}, .microseconds = 0}};
    product.choice = 0;
  }
  write(other);
  EXPECT_TRUE(step(with_file()).completed);
  EXPECT_EQ(tuning().cublaslt, before.cublaslt);
  EXPECT_EQ(tuning().products.size(), before.products.size());
  EXPECT_EQ(tuning().attention, before.attention) << "which is not cuBLASLt's";
  EXPECT_GT(tuning().products[0].tried.size(), 1u);
}

TEST_F(GpuKernelTuning, DeterministicRunsMeasureNothingWithoutAFile) {
  EXPECT_FALSE(step({"--deterministic-mode"}).completed);
  EXPECT_TRUE(kernels::attention_choices().by_shape.empty());
  EXPECT_EQ(kernels::attention_choices().order,
            (std::vector{AttentionKernel::wgmma, AttentionKernel::mma}));
}

TEST_F(GpuKernelTuning, ARecordedStepIsRecordedAnew) {
  Flags graph = {"--enable-cuda-graph", "--cuda-graph-scope", "full_iteration",
                 "--cuda-graph-warmup-steps", "0"};
  graph.insert(graph.end(), kOurs.begin(), kOurs.end());
  const Outcome plain = step(with_file(kOurs)), recorded = step(with_file(graph));
  EXPECT_FALSE(recorded.completed);
  EXPECT_EQ(recorded.gradients, plain.gradients);
  std::filesystem::remove(file_);
  const Outcome tuned_while_recording = step(with_file(graph));
  EXPECT_TRUE(tuned_while_recording.completed);
  EXPECT_EQ(step(with_file(kOurs)).gradients, tuned_while_recording.gradients);
}

}  // namespace gpu_kernel_tuning_test
}  // namespace mpitron::train

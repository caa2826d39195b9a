#pragma once
#include <memory>
#include <string>

#include "config/parse/parse.h"
#include "train/loop/pretrain.h"
#include "train/tuning/kernel_tuning.h"

namespace mpitron::train {

/// A training run between its flags and its exit code: data, model and training loop, made in the
/// order in which they need each other. All ranks make one and call the same methods.
class Session {
 public:
  /// `world`: ranks whose tensors may lie on a GPU (comm::world_for_device). `build`: the program's
  /// fingerprint for checkpoints. `trace`: what the world's operations are added to. `foreign`:
  /// what the run begins with where it has no checkpoint.
  Session(const config::ParsedRun& parsed, device::Device& device,
          std::shared_ptr<comm::World> world, const std::string& build,
          std::shared_ptr<Trace> trace,
          const std::shared_ptr<const ForeignWeights>& foreign = nullptr);

  /// Trains and evaluates; tells the unigram baseline where it is asked for.
  RunOutcome run();

  const config::RunConfig& config() const { return config_; }
  TrainedModel& model() { return *model_; }
  const tokenizers::Tokenizer& tokenizer() const { return *data_.tokenizer; }
  TrainStep& step() { return pretraining_->step(); }
  /// Sets what is measured at every evaluation (Pretraining::measure).
  void measure(std::function<TaskEvaluation::Figures()> tasks) {
    pretraining_->measure(std::move(tasks));
  }

 private:
  void print_data() const;
  void print_unigram_baseline() const;

  config::RunConfig config_;
  device::Device& device_;
  std::shared_ptr<comm::World> world_;
  KernelChoice kernels_;
  KernelTuning tuning_;
  TrainingData data_;
  std::unique_ptr<TrainedModel> model_;
  std::unique_ptr<Pretraining> pretraining_;
};

}  // namespace mpitron::train

#pragma once
#include "config/run_config.h"
#include "device/device.h"
#include "train/batches/microbatch_stream.h"
#include "train/batches/sample_schedule.h"
#include "train/batches/training_data.h"
#include "train/checkpointing/checkpointing.h"
#include "train/log/training_log.h"
#include "train/loop/evaluation.h"
#include "train/loop/skip_iterations.h"
#include "train/loop/task_evaluation.h"
#include "train/reruns/result_judge.h"
#include "train/run/exit_watch.h"
#include "train/run/progress_log.h"
#include "train/run/run_record.h"
#include "train/timing/profile.h"
#include "train/tuning/kernel_tuning.h"
#include "utils/error.h"

namespace mpitron::train {

/// How a run ended.
struct RunOutcome {
  Index iteration = 0;
  Index consumed_samples = 0;
  ExitCode code = ExitCode::success;
};

/// The training loop: steps, logging, evaluation, exit conditions. Deterministic: the same flags
/// print the same losses for any number of threads.
class Pretraining {
 public:
  /// `trace`: what the world's operations are added to, for --profile.
  Pretraining(device::Device& device, TrainedModel& model, const TrainingData& data,
              const config::RunConfig& config, const RunIdentity& identity = {},
              std::shared_ptr<Trace> trace = nullptr);

  /// Starts from the checkpoint that the options ask for, trains to the end, then evaluates on
  /// validation and test sets; an exit condition ends it at once. `tuning` is completed by the
  /// first step.
  RunOutcome run(KernelTuning* tuning = nullptr);

  /// Sets the weights with which a run without a checkpoint of its own begins.
  void begin_with(std::shared_ptr<const ForeignWeights> weights) {
    checkpointing_.begin_with(std::move(weights));
  }
  /// Sets what is measured at every evaluation; its figures go to the log. Collective.
  void measure(std::function<TaskEvaluation::Figures()> tasks) {
    tasks_.measure = std::move(tasks);
  }
  TrainStep& step() { return step_; }

 private:
  /// Runs, and where the device's memory does not suffice tells what holds it.
  RunOutcome run_within_memory();
  RunOutcome run_to_end();
  /// Trains; false where an exit condition ended it: then nothing is evaluated, as in the
  /// reference.
  bool train(ExitWatch& watch, RunOutcome& outcome);
  /// Saves what the decision asks for; false where the run ends.
  bool obey(const ExitDecision& decision, const Progress& progress, RunOutcome& outcome);
  void enter_iteration(Index iteration);
  void save(const Progress& progress, SaveKind kind);
  void note_progress(const Progress& progress);
  void note_reached(const Progress& progress);
  /// Error(data) where a run with --save ends as planned and nobody has its last state.
  void refuse_unsaved_end(Index iteration) const;
  /// Runs the iteration after `before`; where its results are rejected it leaves the run there and
  /// throws.
  StepReport one_iteration(const Progress& before, std::unique_ptr<MicrobatchStream>& stream,
                           Index& batch_size);
  /// Obeys a decision about the iteration after `before`, and throws.
  [[noreturn]] void leave(const RerunDecision& decision, const Progress& before);
  std::unique_ptr<MicrobatchStream> training_stream(Index consumed) const;
  void validate(const Progress& progress, bool at_end);
  /// Evaluates after the last iteration of an epoch of `mpitron finetune`.
  void end_epoch(const Progress& progress);
  void evaluate_task(const Progress& progress, Index epoch);

  device::Device& device_;
  TrainedModel& model_;
  const TrainingData& data_;
  config::RunConfig config_;
  Timers timers_;
  Profile profile_;
  KernelTuning* tuning_ = nullptr;
  NumMicrobatches num_microbatches_;
  SkipIterations skipped_;
  ResultJudge judge_;
  TrainStep step_;
  Evaluator evaluator_;
  struct Tasks {
    std::optional<TaskEvaluation> finetuned;           // of `mpitron finetune`
    std::function<TaskEvaluation::Figures()> measure;  // of --eval-tasks; unset: nothing
  } tasks_;
  Checkpointing checkpointing_;
  TrainingLog log_;
  std::optional<ProgressLog> progress_log_;  // rank 0 with --log-progress
  RunStateKeeper record_;
  const std::vector<std::pair<std::string, std::string>> arguments_;  // of RunIdentity
  Index first_sample_ = 0;                                            // where this program started
  Index consumed_valid_samples_ = 0;
};

}  // namespace mpitron::train

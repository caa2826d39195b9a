#pragma once
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "checkpoint/checkpoint_reader.h"
#include "checkpoint/checkpoint_writer.h"
#include "checkpoint/folder_lock.h"
#include "config/run_config.h"
#include "train/checkpoint_source.h"
#include "train/checkpoint_state.h"
#include "train/train_step.h"

namespace mpitron::train {

/// Where a run stands, as far as a checkpoint keeps it.
struct RunPosition {
  Index iteration = 0;
  Index consumed_train_samples = 0;
  Index consumed_valid_samples = 0;
};

/// What a checkpoint says of the run that wrote it.
struct RunIdentity {
  std::string configuration;  // JSON of all options (config::values_json)
  std::string build;
  std::map<std::string, std::string> files = {};  // the tokenizer's, by name
};

/// Loads and saves a run as its options say. All ranks call everything; an error of one is an error
/// of all, with the same message.
class Checkpointing {
 public:
  /// Error(data) where --save names a folder of another model's checkpoints, or one that another
  /// run saves to.
  Checkpointing(TrainedModel& model, TrainStep& step, const config::RunConfig& config,
                RunIdentity identity);

  /// Starts from `source`, what `choose_checkpoint` said. Nothing is loaded where the options ask
  /// for nothing; no position where --exit-on-missing-checkpoint ends the run. Error(data) where
  /// tensors are missing, unexpected or of another shape: all are listed.
  std::optional<RunPosition> load(const std::optional<CheckpointSource>& source);
  /// Chooses, then loads.
  std::optional<RunPosition> load() { return load(choose_checkpoint(model_.world(), config_)); }

  /// Writes a checkpoint; with --async-save while training goes on. A save that fails says so and
  /// does not end the run.
  void save(const RunPosition& position);
  /// Between iterations: completes a save whose data are written.
  void poll();
  /// Waits for a save under way.
  void finish();
  /// The iteration of the last call of `save`, or what was loaded.
  std::optional<Index> last_save() const { return last_; }
  /// The newest complete checkpoint that this run saved.
  std::optional<Index> saved_iteration() const { return saved_; }

 private:
  void take_save_folder();
  RunPosition load_from(const CheckpointSource& source);
  void refuse_differences(checkpoint::CheckpointReader& reader, const StateToLoad& state,
                          bool with_optimizer) const;
  checkpoint::Header header(const RunPosition& position) const;
  void report(const checkpoint::SaveReport& save);
  void verify_resume(Index iteration);

  TrainedModel& model_;
  TrainStep& step_;
  config::CheckpointConfig config_;
  config::ParallelConfig parallel_;
  RunIdentity identity_;
  comm::GroupHandle all_;
  std::optional<checkpoint::FolderLock> lock_;  // of the folder that this run saves to; rank 0
  checkpoint::CheckpointWriter writer_;
  std::optional<Index> last_, saved_;
};

}  // namespace mpitron::train

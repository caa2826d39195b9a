#pragma once
#include <future>
#include <memory>
#include <optional>
#include <string>

#include "checkpoint/folders/folder.h"
#include "checkpoint/folders/folder_lock.h"
#include "checkpoint/write/checkpoint_writer.h"
#include "checkpoint/write/local_checkpoints.h"
#include "config/run_config.h"
#include "tensor/host_copy.h"
#include "train/checkpointing/base_weights.h"
#include "train/checkpointing/checkpoint_source.h"
#include "train/run/exit_conditions.h"
#include "train/run/run_identity.h"
#include "train/step/train_step.h"

namespace mpitron::train {

/// Loads and saves a run as its options say. All ranks call everything; an error of one is an error
/// of all, with the same message.
class Checkpointing {
 public:
  /// Error(data) where --save names a folder of another model's checkpoints, or one that another
  /// run saves to.
  Checkpointing(TrainedModel& model, TrainStep& step, const config::RunConfig& config,
                RunIdentity identity, Trace* trace = nullptr);

  ~Checkpointing();
  Checkpointing(const Checkpointing&) = delete;
  Checkpointing& operator=(const Checkpointing&) = delete;

  /// What --load, --pretrained-checkpoint and their companions ask for: the newest checkpoint of
  /// which every byte that is read is as it was written. Nothing is loaded without them; no
  /// position where --exit-on-missing-checkpoint ends the run. Error(data) where there is
  /// nothing to load, or where tensors are missing, unexpected or of another shape: all are listed.
  std::optional<RunPosition> load();
  /// Sets the weights with which a run without a checkpoint of its own begins.
  void begin_with(std::shared_ptr<const ForeignWeights> weights) { foreign_ = std::move(weights); }

  /// Writes a checkpoint; with --async-save while training goes on: copies are made beside the next
  /// forward and backward pass, and the update waits for them. A save that fails says so and
  /// does not end the run.
  void save(const RunPosition& position, SaveKind kind = SaveKind::persistent);
  /// Writes the run to another folder and waits; Error(data) where that fails.
  void convert(const RunPosition& position, const std::filesystem::path& folder);
  /// Between iterations: completes a save whose data are written.
  void poll();
  /// Waits for a save under way, and for the deletion of older ones.
  void finish();
  /// The iteration of the last persistent save, or what was loaded.
  std::optional<Index> last_save() const { return last_; }
  /// The newest complete checkpoint that this run saved.
  std::optional<Index> saved_iteration() const { return saved_; }
  /// Returns the newest iteration that was saved, or the one that was loaded.
  std::optional<Index> newest_iteration() const { return saved_ ? saved_ : loaded_; }
  /// Returns how long the slowest complete save of this run took; nothing before the first.
  std::optional<double> save_seconds() const { return save_seconds_; }

 private:
  void take_save_folder();
  /// Loads what is not trained with --lora-rank, before the run's own checkpoints are looked for.
  void load_base();
  void refuse_other_base(const CheckpointSource& source) const;
  /// The first position of a run that has no checkpoint.
  RunPosition begin();
  std::vector<CheckpointSource> sources();
  [[noreturn]] void throw_nothing_to_load(const std::string& why) const;
  void note_loaded(const CheckpointSource& source, Index iteration);
  checkpoint::Header header(const RunPosition& position) const;
  void begin_save(const RunPosition& position, const std::filesystem::path& root, bool local);
  void end_save(bool wait);
  void report(const checkpoint::SaveReport& save);
  void retain(Index newest);
  void wait_for_retention();

  /// The save in flight.
  struct Save {
    std::filesystem::path root;
    bool local = false;  // it is local_'s
  };

  TrainedModel& model_;
  TrainStep& step_;
  config::CheckpointConfig config_;
  config::ParallelConfig parallel_;
  std::optional<config::LoraConfig> low_rank_;
  // What low-rank updates belong to.
  struct {
    std::string fingerprint, folder;
  } base_;
  std::shared_ptr<const ForeignWeights> foreign_;  // null: none
  RunIdentity identity_;
  comm::GroupHandle all_;
  std::optional<checkpoint::FolderLock> lock_;  // of the folder that this run saves to; rank 0
  std::optional<tensor::HostMirror> mirror_;    // of what is being saved
  checkpoint::CheckpointWriter writer_;
  std::unique_ptr<checkpoint::LocalCheckpoints> local_;  // null where there are none
  Save saving_;
  std::future<std::string> retention_;  // of rank 0: what went wrong
  std::optional<Index> last_, saved_, loaded_;
  std::optional<double> save_seconds_;
};

}  // namespace mpitron::train

#pragma once
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "checkpoint/folders/folder.h"
#include "checkpoint/read/checkpoint_reader.h"
#include "checkpoint/write/local_checkpoints.h"
#include "comm/groups/world.h"
#include "config/checkpoint_config.h"
#include "config/model_config.h"
#include "train/checkpointing/checkpoint_source.h"
#include "train/checkpointing/checkpoint_state.h"
#include "train/run/run_identity.h"
#include "train/step/train_step.h"

namespace mpitron::train {

/// Takes the state of a run from checkpoints of any layout, one after the other until one is whole.
/// All ranks call everything; an error of one is an error of all, with the same message.
class CheckpointLoader {
 public:
  /// `local`: each rank's own checkpoints, null where there are none. All arguments must live as
  /// long as this.
  CheckpointLoader(TrainedModel& model, TrainStep& step, const config::CheckpointConfig& config,
                   const RunIdentity& identity, checkpoint::LocalCheckpoints* local)
      : model_(model), step_(step), config_(config), identity_(identity), local_(local) {}

  /// Loads, and returns where the run goes on: nothing, and why, where a byte of the checkpoint is
  /// damaged or missing. Error(data) where it is of another tokenizer, its tensors are missing,
  /// unexpected or of another shape (all are listed), or all fit and the model computes something
  /// else.
  std::optional<RunPosition> load(const CheckpointSource& source, std::string& why);
  /// Whether a load has begun: after a failed one the run's state holds anything.
  bool touched_state() const { return touched_state_; }

 private:
  /// Fills the run's state; none, and why, where that failed.
  std::optional<checkpoint::LoadStatistics> read_state(checkpoint::CheckpointReader& reader,
                                                       const CheckpointSource& source,
                                                       std::string& why);
  /// Refuses another model whose tensors fit: the number of heads, for instance, shows in no shape.
  void refuse_other_model(const checkpoint::File& file, bool weights_only) const;
  /// Lists the options that differ; Error(data) for those that change what the weights compute,
  /// unless the run takes the weights alone or --accept-changes is given.
  void tell_changes(const checkpoint::Header& header, bool weights_only) const;
  /// Says where the checkpoint's run stored its state otherwise.
  void report_state_types(const checkpoint::Header& header) const;

  TrainedModel& model_;
  TrainStep& step_;
  const config::CheckpointConfig& config_;
  const RunIdentity& identity_;
  checkpoint::LocalCheckpoints* local_;
  bool touched_state_ = false;
};

/// Learned positions of a checkpoint whose images had another size: the tables are read as they
/// are, and resized to the run's.
class PositionTables {
 public:
  /// Puts tables of the checkpoint's size in the place of those targets, in the host's memory, that
  /// are pieces of tables of another size.
  PositionTables(const checkpoint::File& file, const config::ModelConfig& model,
                 std::vector<checkpoint::LoadTarget>& targets);

  /// After they have been read: fills the pieces that stood there before. Error(data) where a table
  /// is of no grid.
  void resize() const;

 private:
  struct Table {
    config::VisionConfig vision;  // of the run's images
    Index rows = 0;               // of the checkpoint
    std::vector<float> values;
    tensor::ShardedTensor piece;
  };

  std::deque<Table> tables_;  // whose values targets refer to
};

/// A checkpoint that was just written.
struct SavedRun {
  checkpoint::Folder folder;
  Index iteration = 0;
  bool with_optimizer = true;
  std::string build;  // of the program
};

/// Reads the checkpoint into memory of its own, compares it bit for bit with the run's state, and
/// records the result in it. All ranks; Error(data) names the tensors that differ.
void verify_resume(comm::World& world, TrainStep& step, const SavedRun& saved);

}  // namespace mpitron::train

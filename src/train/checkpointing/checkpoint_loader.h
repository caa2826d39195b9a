#pragma once
#include <optional>
#include <string>

#include "checkpoint/write/local_checkpoints.h"
#include "config/checkpoint_config.h"
#include "train/checkpointing/checkpoint_source.h"
#include "train/checkpointing/checkpoint_state.h"
#include "train/run/run_identity.h"
#include "train/run/run_position.h"
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

  /// Where the run goes on: none, and why, where a byte of the checkpoint is damaged or missing.
  /// Error(data) where it is of another tokenizer, its tensors are missing, unexpected or of
  /// another shape (all are listed), or all fit and the model computes something else with them.
  std::optional<RunPosition> load(const CheckpointSource& source, std::string& why);
  /// Whether a load has begun: after a failed one the run's state holds anything.
  bool touched_state() const { return touched_state_; }

 private:
  /// Fills the run's state; none, and why, where that failed.
  std::optional<checkpoint::LoadStatistics> read_state(checkpoint::CheckpointReader& reader,
                                                       const CheckpointSource& source,
                                                       std::string& why);
  /// Of a model whose tensors fit: heads, for instance, have no shape of their own.
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

}  // namespace mpitron::train

#pragma once
#include <exception>
#include <filesystem>
#include <optional>
#include <string>

#include "train/run/run_state.h"

namespace mpitron::train {

/// Keeps `run_state.json` of a run true: written when training begins, at each new checkpoint, and
/// at the end, by rank 0, or by the rank that fails alone. What ends without a word (a killed rank)
/// leaves "running". A write that fails is a warning: it does not end a training.
class RunRecord {
 public:
  /// `folder`: of the run (--save); none: nothing is written.
  RunRecord(std::optional<std::filesystem::path> folder, Index rank);

  /// `saved`: the newest checkpoint, of this run or what it was loaded from.
  void begin(Index iteration, Index consumed_train_samples, std::optional<Index> saved);
  /// An iteration is done.
  void reached(Index iteration, Index consumed_train_samples, std::optional<Index> saved);
  void end(ExitCode code, const std::string& reason);
  /// Ended by an exception; nothing is written before `begin`.
  void fail(const std::exception& error);

 private:
  void write() const;

  std::optional<std::filesystem::path> folder_;
  Index rank_;
  bool begun_ = false;
  RunState state_;
};

}  // namespace mpitron::train

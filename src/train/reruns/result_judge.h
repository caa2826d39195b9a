#pragma once
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "comm/groups/world.h"
#include "config/run_config.h"
#include "train/reruns/rerun_engine.h"
#include "train/reruns/result_checks.h"
#include "train/step/train_step.h"
#include "utils/numbers/shape.h"

namespace mpitron::train {

/// The rerun engine with its files: the rejections' tracker (--result-rejected-tracker-filename)
/// and `rejected_result.json` beside the checkpoints, by which a run hands a doubtful result to the
/// next one. Every rank makes the same calls with the same reports and gets the same decisions;
/// rank 0 writes.
class ResultJudge {
 public:
  /// Collective. Error(data) for a `rejected_result.json` of another form.
  ResultJudge(comm::World& world, const config::RunConfig& config);

  /// Judges an iteration whose update is not made yet. Where the decision is to leave, what the
  /// next run is to know is not written yet (`hand_over`): the state before the iteration comes
  /// first.
  RerunDecision operator()(Index iteration, const StepReport& report);
  void hand_over(const RerunDecision& decision) const;

 private:
  void note(Index iteration, const RerunDecision& decision) const;

  Index rank_;
  Index log_interval_;
  bool check_not_finite_;
  std::optional<std::filesystem::path> tracker_;
  std::optional<std::filesystem::path> handed_over_;
  ResultChecks checks_;
  RerunEngine engine_;
};

/// A result that was rejected, and what its reruns have told of it so far.
struct Rejection {
  std::string status = "RERUN_DISABLED";  // the reference's RerunValidationStatus
  Index rank = 0;
  Index iteration = 0;
  double result = 0;
  std::string message;
};

/// Appends the reference's line to the file of `--result-rejected-tracker-filename`.
void record_rejection(const std::filesystem::path& tracker, const Rejection& rejection);

/// The iterations that a later run should leave out: those whose result the same rank rejected
/// twice or more, reproducibly. An iteration that several ranks of one job rejected is no matter of
/// its data and stays. None without the file; Error(data) for a line of another form.
std::vector<Index> rejected_iterations(const std::filesystem::path& tracker);

}  // namespace mpitron::train

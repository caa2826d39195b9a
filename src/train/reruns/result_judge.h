#pragma once
#include <filesystem>
#include <optional>

#include "comm/groups/world.h"
#include "config/run_config.h"
#include "train/reruns/rerun_engine.h"
#include "train/reruns/result_checks.h"
#include "train/step/train_step.h"

namespace mpitron::train {

/// The rerun engine with its files: the rejections' tracker (--result-rejected-tracker-filename)
/// and `rejected_result.json` beside the checkpoints, by which a run hands a doubtful result to the
/// next one. Every rank makes the same calls with the same reports and gets the same decisions;
/// rank 0 writes.
class ResultJudge {
 public:
  /// Collective. Error(data) for a `rejected_result.json` of another form.
  ResultJudge(comm::World& world, const config::RunConfig& config);

  /// Of an iteration whose update is not made yet. Where the decision is to leave, what the next
  /// run is to know is not written yet (`hand_over`): the state before the iteration comes first.
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

}  // namespace mpitron::train

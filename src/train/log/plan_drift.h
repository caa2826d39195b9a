#pragma once
#include <filesystem>
#include <optional>
#include <string>

#include "train/timing/timers.h"

namespace mpitron::train {

/// Promises of `mpitron plan --json` for a run's steps.
struct PlannedStep {
  double seconds = 0;
  double error = 0;    // share by which nine of ten such predictions are off at most
  double waiting = 0;  // seconds in which ranks wait for each other: exposed traffic and bubble
};

/// Reads the first layout of a plan file. Error(usage) names file and key.
PlannedStep read_planned_step(const std::filesystem::path& path);

/// Holds a run against its plan (--plan-file).
class PlanDrift {
 public:
  /// Takes the plan; its band is `plan.error` of `plan.seconds` to both sides.
  explicit PlanDrift(const PlannedStep& plan) : plan_(plan) {}

  /// Returns what to say after this iteration: once, when `kSteps` steps in a row have left the
  /// band, with what has grown or shrunk most.
  std::optional<std::string> operator()(const StepTime& step);

  /// Steps in a row outside of the band after which something is said; one inside begins the count
  /// anew.
  static constexpr int kSteps = 100;

 private:
  PlannedStep plan_;
  int outside_ = 0;
  StepTime sum_;
  bool told_ = false;
};

}  // namespace mpitron::train

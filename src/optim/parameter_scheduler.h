#pragma once
#include <string>

#include "optim/learning_rate_schedule.h"
#include "optim/parameter_group.h"
#include "optim/weight_decay_schedule.h"

namespace mpitron::optim {

/// State of the schedules in a checkpoint, by the reference's names. The annealing of WSD is not
/// kept.
struct SchedulerState {
  double max_lr = 0.0;
  double min_lr = 0.0;
  double lr_warmup_steps = 0.0;
  Index num_steps = 0;  // samples consumed by updates
  std::string lr_decay_style;
  Index lr_decay_steps = 0;
  double start_wd = 0.0;
  double end_wd = 0.0;
  std::string wd_incr_style;
  Index wd_incr_steps = 0;

  bool operator==(const SchedulerState&) const = default;
  /// Calls visit(name, value&) for every member, to save or to load.
  template <class Visitor>
  void visit_state(Visitor&& visit) {
    visit("max_lr", max_lr);
    visit("min_lr", min_lr);
    visit("lr_warmup_steps", lr_warmup_steps);
    visit("num_steps", num_steps);
    visit("lr_decay_style", lr_decay_style);
    visit("lr_decay_steps", lr_decay_steps);
    visit("start_wd", start_wd);
    visit("end_wd", end_wd);
    visit("wd_incr_style", wd_incr_style);
    visit("wd_incr_steps", wd_incr_steps);
  }
};

/// Ways out where options and checkpoint disagree about a schedule.
enum class ScheduleConflict {
  refuse,          // Error(usage) naming every difference
  use_options,     // --override-opt_param-scheduler
  use_checkpoint,  // --use-checkpoint-opt_param-scheduler
};

ScheduleConflict schedule_conflict(const config::OptimizerConfig& config);

/// Learning rate and weight decay together, advanced by the samples of every update that was made
/// (a skipped one does not count). The first update uses the rates of step 0.
class ParameterScheduler {
 public:
  struct GroupRates {
    double learning_rate = 0.0;
    double weight_decay = 0.0;
  };

  /// Error(usage) for an invalid schedule.
  ParameterScheduler(const LearningRateSchedule& lr, const WeightDecaySchedule& wd);
  explicit ParameterScheduler(const config::OptimizerConfig& config);

  void advance(Index samples) { num_steps_ += samples; }
  Index num_steps() const { return num_steps_; }
  /// Rate of the group with multiplier 1; logged after `advance`, it is the rate of the next
  /// update.
  double learning_rate() const { return lr_.at(num_steps_); }
  double weight_decay() const { return wd_.at(num_steps_); }
  /// Rates of the next update of a group; `bounds` from `group_bounds`.
  GroupRates rates(const ParameterGroupKey& key, const LrBounds& bounds) const;

  const LearningRateSchedule& learning_rate_schedule() const { return lr_; }

  SchedulerState state() const;
  void restore(const SchedulerState& saved, ScheduleConflict conflict);

 private:
  void adopt(const SchedulerState& saved);

  LearningRateSchedule lr_;
  WeightDecaySchedule wd_;
  Index num_steps_ = 0;
};

}  // namespace mpitron::optim

// Ties learning rate and weight decay to the position of a run and checks a checkpoint's schedules
// against the options.
#include "optim/parameter_scheduler.h"

#include "utils/error.h"

namespace mpitron::optim {
namespace {

/// Lists the members that differ: "lr_decay_steps (option 80, checkpoint 160)".
std::string differences(SchedulerState options, SchedulerState saved) {
  std::string text;
  saved.num_steps = options.num_steps;
  options.visit_state([&](const std::string& name, const auto& ours) {
    saved.visit_state([&](const std::string& other, const auto& theirs) {
      if constexpr (std::is_same_v<decltype(ours), decltype(theirs)>) {
        if (name == other && ours != theirs) {
          text += fmt::format("{}{} (option {}, checkpoint {})", text.empty() ? "" : ", ", name,
                              ours, theirs);
        }
      }
    });
  });
  return text;
}

}  // namespace

ScheduleConflict schedule_conflict(const config::OptimizerConfig& config) {
  if (config.override_opt_param_scheduler && config.use_checkpoint_opt_param_scheduler) {
    throw_usage(
        "--override-opt_param-scheduler takes the options, "
        "--use-checkpoint-opt_param-scheduler the checkpoint: give only one");
  }
  if (config.override_opt_param_scheduler) {
    return ScheduleConflict::use_options;
  }
  return config.use_checkpoint_opt_param_scheduler ? ScheduleConflict::use_checkpoint
                                                   : ScheduleConflict::refuse;
}

ParameterScheduler::ParameterScheduler(const LearningRateSchedule& lr,
                                       const WeightDecaySchedule& wd)
    : lr_(lr), wd_(wd) {
  lr_.validate();
  wd_.validate();
}

ParameterScheduler::ParameterScheduler(const config::OptimizerConfig& config)
    : ParameterScheduler(make_learning_rate_schedule(config), make_weight_decay_schedule(config)) {}

ParameterScheduler::GroupRates ParameterScheduler::rates(const ParameterGroupKey& key,
                                                         const LrBounds& bounds) const {
  return {.learning_rate = lr_.at(num_steps_, bounds) * key.lr_mult,
          .weight_decay = wd_.at(num_steps_) * key.wd_mult};
}

SchedulerState ParameterScheduler::state() const {
  return {.max_lr = lr_.bounds.max_lr,
          .min_lr = lr_.bounds.min_lr,
          .lr_warmup_steps = lr_.lr_warmup_steps,
          .num_steps = num_steps_,
          .lr_decay_style = std::string(to_string(lr_.lr_decay_style)),
          .lr_decay_steps = lr_.lr_decay_steps,
          .start_wd = wd_.start_wd,
          .end_wd = wd_.end_wd,
          .wd_incr_style = std::string(to_string(wd_.wd_incr_style)),
          .wd_incr_steps = wd_.wd_incr_steps};
}

void ParameterScheduler::adopt(const SchedulerState& saved) {
  lr_.bounds = {.max_lr = saved.max_lr, .min_lr = saved.min_lr};
  lr_.lr_warmup_steps = saved.lr_warmup_steps;
  lr_.lr_decay_style = parse_lr_decay_style(saved.lr_decay_style);
  lr_.lr_decay_steps = saved.lr_decay_steps;
  wd_ = {.start_wd = saved.start_wd,
         .end_wd = saved.end_wd,
         .wd_incr_steps = saved.wd_incr_steps,
         .wd_incr_style = parse_weight_decay_style(saved.wd_incr_style)};
  lr_.validate();
  wd_.validate();
}

void ParameterScheduler::restore(const SchedulerState& saved, ScheduleConflict conflict) {
  if (conflict == ScheduleConflict::use_checkpoint) {
    adopt(saved);
  } else if (conflict == ScheduleConflict::refuse) {
    const std::string text = differences(state(), saved);
    if (!text.empty()) {
      throw_usage(
          "the checkpoint was trained with other schedules: {}. Give the same options, or "
          "--override-opt_param-scheduler to use the options, or "
          "--use-checkpoint-opt_param-scheduler to use the checkpoint's",
          text);
    }
  }
  num_steps_ = saved.num_steps;
}

}  // namespace mpitron::optim

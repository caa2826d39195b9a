#pragma once
#include <string_view>

#include "config/optimizer_config.h"
#include "utils/numbers/shape.h"

namespace mpitron::optim {

using config::LrDecayStyle;
using config::WsdDecayStyle;

/// The spelling of --lr-decay-style, as checkpoints keep it; Error(data) for an unknown one.
LrDecayStyle parse_lr_decay_style(std::string_view name);
std::string_view to_string(LrDecayStyle style);

/// Bounds of the learning rate of one parameter group; a decoupled group has its own.
struct LrBounds {
  double max_lr = 0.0;
  double min_lr = 0.0;
};

/// Learning rate as a function of the samples consumed by updates ("steps" of the reference are
/// samples, so that a batch size ramp-up changes nothing). Source: OptimizerParamScheduler.get_lr
/// of the reference.
struct LearningRateSchedule {
  double lr_warmup_init = 0.0;   // rate at step 0 when there is a warm-up
  LrBounds bounds;               // max_lr = --lr, min_lr = --min-lr
  double lr_warmup_steps = 0.0;  // samples; a fraction of the decay need not be a whole number
  Index lr_decay_steps = 0;      // samples; behind it the rate is min_lr (not for constant)
  Index wsd_decay_steps = 0;     // samples; the annealing at the end of WSD
  LrDecayStyle lr_decay_style = LrDecayStyle::linear;
  WsdDecayStyle lr_wsd_decay_style = WsdDecayStyle::exponential;

  /// Error(usage) for bounds or lengths that make no schedule; call it once, `at` does not check.
  void validate() const;
  double at(Index num_steps) const { return at(num_steps, bounds); }
  /// Rate of a group with bounds of its own (before its lr_mult).
  double at(Index num_steps, const LrBounds& group) const;

 private:
  double decay_fraction(double num_steps) const;
};

/// The schedule of the parsed options.
LearningRateSchedule make_learning_rate_schedule(const config::OptimizerConfig& config);

}  // namespace mpitron::optim

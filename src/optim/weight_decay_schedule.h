#pragma once
#include <string_view>

#include "config/optimizer_config.h"
#include "utils/numbers/shape.h"

namespace mpitron::optim {

using WeightDecayStyle = config::WeightDecayIncrStyle;

/// The spelling of --weight-decay-incr-style, as checkpoints keep it; Error(data) for an unknown
/// one.
WeightDecayStyle parse_weight_decay_style(std::string_view name);
std::string_view to_string(WeightDecayStyle style);

/// Weight decay as a function of the samples consumed by updates, before the wd_mult of a group.
/// Source: OptimizerParamScheduler.get_wd of the reference.
struct WeightDecaySchedule {
  double start_wd = 0.0;    // --start-weight-decay, or --weight-decay for the constant style
  double end_wd = 0.0;      // --end-weight-decay, or --weight-decay
  Index wd_incr_steps = 0;  // samples of the whole run
  WeightDecayStyle wd_incr_style = WeightDecayStyle::constant;

  /// Error(usage) for bounds that make no schedule; call it once, `at` does not check.
  void validate() const;
  double at(Index num_steps) const;
};

/// The schedule of the parsed options.
WeightDecaySchedule make_weight_decay_schedule(const config::OptimizerConfig& config);

}  // namespace mpitron::optim

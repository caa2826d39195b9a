// Computes the weight decay of an iteration, constant or growing to its end.
#include "optim/weight_decay_schedule.h"

#include <cmath>
#include <numbers>

#include "optim/style_names.h"
#include "utils/error.h"

namespace mpitron::optim {
namespace {

constexpr StyleNames<WeightDecayStyle, 3> kStyles{{{
    {"constant", WeightDecayStyle::constant},
    {"linear", WeightDecayStyle::linear},
    {"cosine", WeightDecayStyle::cosine},
}}};

}  // namespace

WeightDecayStyle parse_weight_decay_style(std::string_view name) {
  return kStyles.parse("wd_incr_style", name);
}

std::string_view to_string(WeightDecayStyle style) {
  return kStyles.name(style);
}

void WeightDecaySchedule::validate() const {
  if (!(start_wd >= 0.0 && end_wd >= start_wd)) {
    throw_usage(
        "the weight decay goes from {} to {}: --start-weight-decay must be 0 or more and "
        "--end-weight-decay not below it",
        start_wd, end_wd);
  }
  if (wd_incr_style == WeightDecayStyle::constant && start_wd != end_wd) {
    throw_usage(
        "--weight-decay-incr-style constant keeps one weight decay, but it was given {} "
        "and {}: choose linear or cosine, or only --weight-decay",
        start_wd, end_wd);
  }
  if (wd_incr_style != WeightDecayStyle::constant && wd_incr_steps <= 0) {
    throw_usage(
        "--weight-decay-incr-style {} needs a run of more than {} samples "
        "(--train-iters, --train-samples)",
        to_string(wd_incr_style), wd_incr_steps);
  }
}

/// start + fraction (end - start), of which the fraction grows linearly or like a cosine.
double WeightDecaySchedule::at(Index num_steps) const {
  if (wd_incr_style == WeightDecayStyle::constant || num_steps > wd_incr_steps) {
    return end_wd;
  }
  const double ratio = static_cast<double>(num_steps) / static_cast<double>(wd_incr_steps);
  const double fraction = wd_incr_style == WeightDecayStyle::linear
                              ? ratio
                              : 0.5 * (std::cos(std::numbers::pi * (1.0 - ratio)) + 1.0);
  return start_wd + fraction * (end_wd - start_wd);
}

WeightDecaySchedule make_weight_decay_schedule(const config::OptimizerConfig& config) {
  return {.start_wd = config.start_weight_decay,
          .end_wd = config.end_weight_decay,
          .wd_incr_steps = config.wd_incr_steps,
          .wd_incr_style = config.weight_decay_incr_style};
}

}  // namespace mpitron::optim

// Computes the learning rate of an iteration as the reference's OptimizerParamScheduler does:
// warm-up, then linear, cosine, inverse square root or WSD, by samples consumed.
#include "optim/learning_rate_schedule.h"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "optim/style_names.h"
#include "utils/error.h"

namespace mpitron::optim {
namespace {

constexpr StyleNames<LrDecayStyle, 5> kLrStyles{{{
    {"constant", LrDecayStyle::constant},
    {"linear", LrDecayStyle::linear},
    {"cosine", LrDecayStyle::cosine},
    {"inverse-square-root", LrDecayStyle::inverse_square_root},
    {"WSD", LrDecayStyle::wsd},
}}};

double cosine_fall(double ratio) {
  return 0.5 * (std::cos(std::numbers::pi * ratio) + 1.0);
}

/// Returns the share of max_lr - min_lr that is left after `ratio` of the annealing; 1 at its
/// start, 0 at its end.
double wsd_fraction(WsdDecayStyle style, double ratio) {
  switch (style) {
    case WsdDecayStyle::linear:
      return 1.0 - ratio;
    case WsdDecayStyle::cosine:
      return cosine_fall(ratio);
    case WsdDecayStyle::exponential:
      return 2.0 * std::pow(0.5, ratio) - 1.0;
    case WsdDecayStyle::minus_sqrt:
      break;
  }
  return 1.0 - std::sqrt(ratio);
}

}  // namespace

LrDecayStyle parse_lr_decay_style(std::string_view name) {
  return kLrStyles.parse("lr_decay_style", name);
}

std::string_view to_string(LrDecayStyle style) {
  return kLrStyles.name(style);
}

void LearningRateSchedule::validate() const {
  if (!(bounds.min_lr >= 0.0)) {
    throw_usage("--min-lr {} is not a learning rate: it must be 0 or more", bounds.min_lr);
  }
  if (!(bounds.max_lr >= bounds.min_lr)) {
    throw_usage("--lr {} is below --min-lr {}: raise --lr or lower --min-lr", bounds.max_lr,
                bounds.min_lr);
  }
  if (!(lr_warmup_init <= bounds.max_lr)) {
    throw_usage("--lr-warmup-init {} is above --lr {}: the warm-up rises from one to the other",
                lr_warmup_init, bounds.max_lr);
  }
  if (lr_decay_steps <= 0) {
    throw_usage(
        "the learning rate decays over {} samples: give --lr-decay-iters, "
        "--lr-decay-samples, --train-iters or --train-samples above 0",
        lr_decay_steps);
  }
  if (!(lr_warmup_steps >= 0.0 && lr_warmup_steps < static_cast<double>(lr_decay_steps))) {
    throw_usage(
        "the warm-up takes {} of the {} samples of the learning rate decay: it must be "
        "shorter (--lr-warmup-iters, --lr-warmup-samples, --lr-warmup-fraction)",
        lr_warmup_steps, lr_decay_steps);
  }
  if (lr_decay_style == LrDecayStyle::wsd &&
      !(wsd_decay_steps > 0 && wsd_decay_steps <= lr_decay_steps)) {
    throw_usage(
        "--lr-decay-style WSD anneals over {} samples: give --lr-wsd-decay-iters or "
        "--lr-wsd-decay-samples between 1 and the {} samples of the decay",
        wsd_decay_steps, lr_decay_steps);
  }
}

/// Returns the share of max_lr - min_lr that is left: linear 1 - r, cosine (1 + cos(pi r)) / 2; WSD
/// stays at 1 until it anneals.
double LearningRateSchedule::decay_fraction(double num_steps) const {
  if (lr_decay_style == LrDecayStyle::wsd) {
    const auto annealing_start = static_cast<double>(lr_decay_steps - wsd_decay_steps);
    if (num_steps <= annealing_start) {
      return 1.0;
    }
    return wsd_fraction(lr_wsd_decay_style,
                        (num_steps - annealing_start) / static_cast<double>(wsd_decay_steps));
  }
  const double ratio =
      (num_steps - lr_warmup_steps) / (static_cast<double>(lr_decay_steps) - lr_warmup_steps);
  return lr_decay_style == LrDecayStyle::linear ? 1.0 - ratio : cosine_fall(ratio);
}

/// Source: OptimizerParamScheduler of the reference. A linear warm-up, then the style's fall to
/// min_lr; inverse square root: max_lr sqrt(warm-up / n), not below min_lr.
double LearningRateSchedule::at(Index num_steps, const LrBounds& group) const {
  const auto n = static_cast<double>(num_steps);
  if (lr_warmup_steps > 0.0 && n <= lr_warmup_steps) {
    return lr_warmup_init + (group.max_lr - lr_warmup_init) * n / lr_warmup_steps;
  }
  if (lr_decay_style == LrDecayStyle::constant) {
    return group.max_lr;
  }
  if (num_steps > lr_decay_steps) {
    return group.min_lr;
  }
  if (lr_decay_style == LrDecayStyle::inverse_square_root) {
    const double rate =
        group.max_lr * std::sqrt(std::max(lr_warmup_steps, 1.0)) / std::sqrt(std::max(n, 1.0));
    return std::max(group.min_lr, rate);
  }
  return group.min_lr + decay_fraction(n) * (group.max_lr - group.min_lr);
}

LearningRateSchedule make_learning_rate_schedule(const config::OptimizerConfig& config) {
  return {.lr_warmup_init = config.lr_warmup_init,
          .bounds = {.max_lr = config.lr, .min_lr = config.min_lr},
          .lr_warmup_steps = config.lr_warmup_steps,
          .lr_decay_steps = config.lr_decay_steps,
          .wsd_decay_steps = config.lr_wsd_decay_steps,
          .lr_decay_style = config.lr_decay_style,
          .lr_wsd_decay_style = config.lr_wsd_decay_style};
}

}  // namespace mpitron::optim

// Scales the loss in fp16 as the reference's grad_scaler.py does; the state is in checkpoints,
// since growth depends on past steps.
#include "optim/loss_scaler.h"

#include <algorithm>

#include "utils/error.h"

namespace mpitron::optim {
namespace {

constexpr double kGrowth = 2.0;
constexpr double kBackoff = 0.5;

}  // namespace

/// An overflow skips the update and leaves the scale.
LossScaler LossScaler::constant(double scale) {
  if (!(scale > 0.0)) {
    throw_usage("--loss-scale {} must be above 0", scale);
  }
  LossScaler scaler;
  scaler.skips_overflows_ = true;
  scaler.state_.scale = scale;
  return scaler;
}

LossScaler LossScaler::dynamic(const config::OptimizerConfig& config) {
  if (!(config.min_loss_scale > 0.0 && config.initial_loss_scale >= config.min_loss_scale)) {
    throw_usage(
        "--initial-loss-scale {} must not be below --min-loss-scale {}, which must be above 0",
        config.initial_loss_scale, config.min_loss_scale);
  }
  if (!(config.loss_scale_window >= 1.0) || config.hysteresis < 1) {
    throw_usage("--loss-scale-window {} and --hysteresis {} count steps: both must be 1 or more",
                config.loss_scale_window, config.hysteresis);
  }
  LossScaler scaler;
  scaler.skips_overflows_ = true;
  scaler.dynamic_ = true;
  scaler.min_scale_ = config.min_loss_scale;
  scaler.window_ = static_cast<Index>(config.loss_scale_window);
  scaler.hysteresis_ = config.hysteresis;
  scaler.state_ = {.scale = config.initial_loss_scale,
                   .growth_tracker = 0,
                   .hysteresis_tracker = config.hysteresis};
  return scaler;
}

/// Halves the scale at every overflow from the `hysteresis`-th on since it last grew, and doubles
/// it after `window` steps without one.
void LossScaler::update(bool found_inf) {
  if (!dynamic_) {
    return;
  }
  if (found_inf) {
    state_.growth_tracker = 0;
    if (--state_.hysteresis_tracker <= 0) {
      state_.scale = std::max(state_.scale * kBackoff, min_scale_);
    }
    return;
  }
  if (++state_.growth_tracker == window_) {
    state_.growth_tracker = 0;
    state_.hysteresis_tracker = hysteresis_;
    state_.scale *= kGrowth;
  }
}

LossScaler make_loss_scaler(const config::OptimizerConfig& config) {
  if (config.loss_scale) {
    return LossScaler::constant(*config.loss_scale);
  }
  return config.fp16 ? LossScaler::dynamic(config) : LossScaler::none();
}

}  // namespace mpitron::optim

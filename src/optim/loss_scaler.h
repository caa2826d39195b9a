#pragma once
#include "config/optimizer_config.h"
#include "utils/numbers/shape.h"

namespace mpitron::optim {

/// The factor on the loss that keeps fp16 gradients in range. Static, or dynamic: an overflow
/// clears the growth counter and uses up hysteresis; once that is exhausted every overflow halves
/// the scale, until a full window of clean steps doubles it and refills the hysteresis. Source:
/// ConstantGradScaler, DynamicGradScaler.
class LossScaler {
 public:
  struct State {
    double scale = 1.0;
    Index growth_tracker = 0;      // clean steps since the last overflow or growth
    Index hysteresis_tracker = 0;  // may fall below 0
    bool operator==(const State&) const = default;
  };

  /// 1, and nobody looks for overflows.
  static LossScaler none() { return {}; }
  /// A scale that never changes.
  static LossScaler constant(double scale);
  static LossScaler dynamic(const config::OptimizerConfig& config);

  double scale() const { return state_.scale; }
  /// Returns the factor of gradients, computed in double and rounded once.
  float inverse_scale() const { return static_cast<float>(1.0 / state_.scale); }
  /// Whether a step whose gradients are not finite makes no update.
  bool skips_overflows() const { return skips_overflows_; }
  /// Once per step, with the overflow flag of all ranks.
  void update(bool found_inf);

  const State& state() const { return state_; }
  /// Calls visit(name, value&) for what a checkpoint keeps; nothing for a constant scale.
  template <class Visitor>
  void visit_state(Visitor&& visit) {
    if (dynamic_) {
      visit("scale", state_.scale);
      visit("growth_tracker", state_.growth_tracker);
      visit("hysteresis_tracker", state_.hysteresis_tracker);
    }
  }

 private:
  LossScaler() = default;

  State state_;
  bool skips_overflows_ = false;
  bool dynamic_ = false;
  double min_scale_ = 1.0;
  Index window_ = 0;
  Index hysteresis_ = 0;
};

/// Constant where --loss-scale is given, else dynamic for fp16 and none for bf16 and fp32.
/// Error(usage) for values that are not positive.
LossScaler make_loss_scaler(const config::OptimizerConfig& config);

}  // namespace mpitron::optim

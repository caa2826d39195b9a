#pragma once
#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "config/training_config.h"
#include "utils/numbers/shape.h"

namespace mpitron::train {

/// A figure of an iteration; every rank has the same.
struct Result {
  std::string_view name;
  double value = 0;
  std::string complaint = {};  // why it is rejected; empty: it is not
  bool fatal = false;          // a rejected one that no rerun makes acceptable
};

/// Loss and gradient norm.
using Results = std::array<Result, 2>;

/// Tells values far above what was seen in the first samples (--check-for-spiky-loss,
/// --check-for-large-grads): above `factor` times the largest of the first `learning_samples`,
/// which never are. NaN is left to others, an infinity always is too large. Source:
/// RerunStateMachine.is_unexpectedly_large.
class UnexpectedlyLarge {
 public:
  explicit UnexpectedlyLarge(double factor = 10.0, Index learning_samples = 100)
      : factor_(factor), learning_samples_(learning_samples) {}

  bool operator()(double value);
  double largest() const { return largest_; }

 private:
  double factor_;
  Index learning_samples_;
  double largest_ = 0.0;
  Index samples_seen_ = 0;
};

/// Checks that the options ask of every iteration's loss and gradient norm.
class ResultChecks {
 public:
  explicit ResultChecks(const config::TrainingConfig& training);

  /// Checks both figures. Not finite is fatal (not with --no-check-for-nan-in-loss-and-grad); a
  /// spike is not.
  Results operator()(double loss, double grad_norm);

 private:
  Result check(std::string_view name, double value, std::optional<UnexpectedlyLarge>& spikes) const;

  bool finite_;
  std::optional<UnexpectedlyLarge> spiky_loss_, large_gradients_;
};

}  // namespace mpitron::train

// Checks losses and gradient norms of an iteration: not a number, infinite, or far above those of
// the first samples. All ranks have the same figures, so all come to the same answer.
#include "train/reruns/result_checks.h"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

namespace mpitron::train {

/// Learns the largest of the first samples; whatever is far above that afterwards is told of.
bool UnexpectedlyLarge::operator()(double value) {
  const double size = std::fabs(value);
  if (std::isnan(size)) {
    return false;
  }
  if (std::isinf(size)) {
    return true;
  }
  if (samples_seen_ < learning_samples_) {
    ++samples_seen_;
    largest_ = std::max(largest_, size);
    return false;
  }
  return size > factor_ * largest_;
}

ResultChecks::ResultChecks(const config::TrainingConfig& training)
    : finite_(training.check_for_nan_in_loss_and_grad) {
  if (training.check_for_spiky_loss) {
    spiky_loss_.emplace();
  }
  if (training.check_for_large_grads) {
    large_gradients_.emplace();
  }
}

Results ResultChecks::operator()(double loss, double grad_norm) {
  return {check("loss", loss, spiky_loss_), check("gradient norm", grad_norm, large_gradients_)};
}

/// Checks a figure: not a number, infinite, or unexpectedly large where that is checked.
Result ResultChecks::check(std::string_view name, double value,
                           std::optional<UnexpectedlyLarge>& spikes) const {
  if (finite_ && !std::isfinite(value)) {
    return {.name = name,
            .value = value,
            .complaint = fmt::format("the {} is {}", name, value),
            .fatal = true};
  }
  if (spikes && (*spikes)(value)) {
    return {.name = name,
            .value = value,
            .complaint = fmt::format("the {} is {}, far above {}, the largest of the first samples",
                                     name, value, spikes->largest())};
  }
  return {.name = name, .value = value};
}

}  // namespace mpitron::train

#include "train/result_checks.h"

#include <algorithm>
#include <cmath>

#include "train/rejected_results.h"
#include "utils/error.h"
#include "utils/log.h"

namespace mpitron::train {
namespace {

std::string place(const ResultOrigin& origin) {
  std::string text = fmt::format("iteration {}, rank {}", origin.iteration, origin.rank);
  return origin.microbatch < 0 ? text : fmt::format("{}, microbatch {}", text, origin.microbatch);
}

}  // namespace

void check_finite(double value, std::string_view what, const ResultOrigin& origin) {
  if (!std::isfinite(value)) {
    throw Error(ExitCode::result_rejected,
                fmt::format("{}: the {} is {}. The weights were not updated in this iteration. "
                            "Look at its data and at the learning rate; "
                            "--no-check-for-nan-in-loss-and-grad trains on",
                            place(origin), what, value));
  }
}

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

std::string spike_message(double value, std::string_view what, const ResultOrigin& origin,
                          const UnexpectedlyLarge& check) {
  return fmt::format("{}: the {} is {}, far above {}, the largest of the first samples",
                     place(origin), what, value, check.largest());
}

ResultChecks::ResultChecks(const config::TrainingConfig& training, Index rank)
    : finite_(training.check_for_nan_in_loss_and_grad),
      tracker_(training.result_rejected_tracker_filename),
      rank_(rank) {
  if (training.check_for_spiky_loss) {
    spiky_loss_.emplace();
  }
  if (training.check_for_large_grads) {
    large_gradients_.emplace();
  }
}

void ResultChecks::operator()(Index iteration, double loss, double grad_norm) {
  check(iteration, loss, "loss", spiky_loss_);
  check(iteration, grad_norm, "gradient norm", large_gradients_);
}

void ResultChecks::check(Index iteration, double value, std::string_view what,
                         std::optional<UnexpectedlyLarge>& spikes) {
  const ResultOrigin origin{.iteration = iteration};
  if (finite_) {
    if (tracker_ && rank_ == 0 && !std::isfinite(value)) {
      record_rejection(*tracker_, {.iteration = iteration,
                                   .result = value,
                                   .message = fmt::format("the {} is not finite", what)});
    }
    check_finite(value, what, origin);
  }
  if (spikes && (*spikes)(value) && rank_ == 0) {
    log::warning("{}", spike_message(value, what, origin, *spikes));
  }
}

}  // namespace mpitron::train

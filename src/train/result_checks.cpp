#include "train/result_checks.h"

#include <algorithm>
#include <cmath>

#include "utils/error.h"

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

}  // namespace mpitron::train

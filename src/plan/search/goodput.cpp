#include "plan/search/goodput.h"

#include <algorithm>
#include <cmath>
#include <random>
#include <vector>

// Failures and checkpoints: closed forms of Young (1974) and Daly (2006), and runs played with
// random failures for the spread.

namespace mpitron::plan {
namespace {

constexpr int kRuns = 400;
/// Any seed does; a fixed one tells a user the same days twice.
constexpr std::uint64_t kSeed = 20240729;
constexpr double kDay = 86400;

struct PlayedRun {
  double seconds = 0;
  double restarts = 0;
};

/// Plays a run from failure to failure: of each stretch counts what its last durable checkpoint
/// has.
PlayedRun play_run(const FailureModel& model, double interval, double training,
                   std::mt19937_64& random) {
  std::exponential_distribution<double> until_failure(1 / model.between_failures);
  const double cycle = interval + model.checkpoint;
  PlayedRun run;
  double done = 0;
  while (true) {
    const double up = until_failure(random);
    const double left = training - done;
    const double needed = left + std::floor(left / interval) * model.checkpoint;
    if (up >= needed) {
      run.seconds += needed;
      return run;
    }
    done += interval * std::max(0.0, std::floor((up - model.durable) / cycle));
    run.seconds += up + model.restart;
    ++run.restarts;
  }
}

}  // namespace

double young_interval(const FailureModel& model) {
  return std::sqrt(2 * model.checkpoint * model.between_failures);
}

/// The expansion of the exact optimum, for checkpoints much shorter than the time between failures.
double best_interval(const FailureModel& model) {
  const double c = model.checkpoint, m = model.between_failures;
  return young_interval(model) * (1 + std::sqrt(c / (2 * m)) / 3 + c / (18 * m)) - c;
}

double goodput(const FailureModel& model, double interval) {
  const double m = model.between_failures, lost = model.restart + model.durable;
  return interval / (m * std::exp(lost / m) * std::expm1((interval + model.checkpoint) / m));
}

RunForecast forecast(const FailureModel& model, double interval, double training) {
  std::mt19937_64 random(kSeed);
  std::vector<double> days;
  RunForecast result;
  for (int i = 0; i < kRuns; ++i) {
    const PlayedRun run = play_run(model, interval, training, random);
    days.push_back(run.seconds / kDay);
    result.days += days.back() / kRuns;
    result.restarts += run.restarts / kRuns;
  }
  std::ranges::sort(days);
  result.days_low = days[kRuns / 20];
  result.days_high = days[kRuns - 1 - kRuns / 20];
  return result;
}

}  // namespace mpitron::plan

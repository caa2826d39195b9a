#pragma once
#include <cstdint>

#include "utils/numbers/shape.h"

namespace mpitron::plan {

/// Costs of failures and checkpoints for a run, in seconds.
struct FailureModel {
  double between_failures = 0;  // of the whole job: that of a GPU over their number
  double checkpoint = 0;        // training waits so long for one
  double restart = 0;           // until training goes on after a failure
  double durable = 0;           // until a checkpoint survives a failure, behind the wait for it
};

/// Return the seconds of training between checkpoints that lose least, to first order (Young 1974)
/// and to a higher one (Daly 2006).
double young_interval(const FailureModel& model);
double best_interval(const FailureModel& model);

/// Returns the share of the time that training gets with checkpoints every `interval` seconds (Daly
/// 2006, equation 20). A checkpoint that is not durable yet is lost work.
double goodput(const FailureModel& model, double interval);

/// Duration of a run among failures that come at random.
struct RunForecast {
  double days = 0;      // the mean
  double days_low = 0;  // 5 of 100 runs are shorter
  double days_high = 0;
  double restarts = 0;
};
/// Returns the forecast of `training` seconds without failures, played with a fixed seed.
RunForecast forecast(const FailureModel& model, double interval, double training);

}  // namespace mpitron::plan

#pragma once

namespace mpitron::plan {

/// What failures and checkpoints cost a run. Seconds.
struct FailureModel {
  double between_failures = 0;  // of the whole job: that of a GPU over their number
  double checkpoint = 0;        // training waits so long for one
  double restart = 0;           // until training goes on after a failure
};

/// Seconds of training between checkpoints that lose least (Daly 2006).
double best_interval(const FailureModel& model);

/// Share of the time that training gets with checkpoints every `interval` seconds.
double goodput(const FailureModel& model, double interval);

}  // namespace mpitron::plan

#pragma once
#include "pipeline/schedule.h"

namespace mpitron::pipeline {

/// Computations of the only stage: forward and backward of one microbatch after the other.
ActionList no_pipelining_order(const ScheduleOptions& options);

}  // namespace mpitron::pipeline

#pragma once
#include "config/run_config.h"
#include "pipeline/simulator.h"
#include "pipeline/stage_layout.h"

namespace mpitron::cli {

/// Layers and passes of a run's pipeline, as it would start.
struct PlannedSchedule {
  pipeline::StageLayout layout;
  pipeline::Schedule schedule;
  pipeline::Simulation simulation;  // proven
};

PlannedSchedule plan_schedule(const config::RunConfig& run);

}  // namespace mpitron::cli

#pragma once

#include <span>
#include <string>
#include <vector>

#include "config/layer_pattern.h"
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

/// Error(usage) where the layers cannot be divided so.
PlannedSchedule plan_schedule(const config::RunConfig& run);

/// One transformer layer of a run.
struct LayerRow {
  Index number = 0;  // 1-based
  config::LayerSpec spec;
  pipeline::ChunkPosition place;
  Index parameters = 0;  // of the whole layer
  double flops = 0;      // of an iteration, forward and backward
  double state = 0;      // numbers that it carries from token to token of a sequence
};

/// Returns a row for each layer that the flags make, in order.
std::vector<LayerRow> layer_table(const config::RunConfig& run);

/// Writes a heading and a line for each row.
std::string layer_table_text(std::span<const LayerRow> rows);

}  // namespace mpitron::cli

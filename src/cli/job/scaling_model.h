#pragma once
#include <string>
#include <vector>

#include "config/run_config.h"
#include "report/scaling_table.h"
#include "report/svg_plot.h"

namespace mpitron::cli {

/// What a scaling report is held against; empty: nothing.
struct ScalingModel {
  std::string machine;  // of mpitron plan: name or file
  std::string stack = "mpitron";
  std::string published;  // table of published steps
};

/// The model's iteration of a point, with its largest parts.
void add_model(const ScalingModel& model, const config::RunConfig& run,
               report::PointOutlook& outlook);

/// Published TFLOP/s per GPU of models between half and twice the size of the study's, a line for
/// each source.
std::vector<report::PlotLine> published_lines(const ScalingModel& model,
                                              const std::vector<config::RunConfig>& points);

}  // namespace mpitron::cli

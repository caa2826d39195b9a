#pragma once
#include <map>
#include <string>
#include <vector>

#include "config/run_config.h"

namespace mpitron::train {

/// What a short run leaves: the same in every layout, but for rounding.
struct LayoutOutcome {
  std::vector<double> losses;      // of each iteration, all its objectives
  std::vector<double> grad_norms;  // of each iteration
  std::vector<std::string> names;  // of parameters; on one rank in order of creation
  std::map<std::string, std::vector<float>> weights;  // after the last step, whole, by name
};

/// The first `iterations` of a run on made-up data, with one thread for each rank of the layout, on
/// the reference device (host kernels do not run on several threads of one process).
LayoutOutcome run_layout(const config::RunConfig& run, Index iterations);

/// ||a - b|| / ||b||, infinite where a number is missing.
double relative_distance(const std::vector<float>& a, const std::vector<float>& b);

}  // namespace mpitron::train

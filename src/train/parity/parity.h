#pragma once
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "config/run_config.h"

namespace mpitron::train {

/// How far a weight of a layout is from that of one rank.
struct ParityTensor {
  std::string name;
  double distance = 0;  // ||layout - one rank|| / ||one rank||
};
/// Results of a layout and of one rank for the same small model, by which a layout is proven.
struct ParityCertificate {
  Index world_size = 1;                         // ranks that ran: replicas beyond two are left out
  config::RunConfig run;                        // as it ran
  std::vector<double> losses, expected_losses;  // of each iteration, all its objectives
  std::vector<double> grad_norms, expected_grad_norms;
  std::vector<ParityTensor> tensors;  // weights after the last step, in order of creation
  double tolerance = 1e-6;

  /// Counts the losses of an iteration.
  std::size_t objectives() const {
    return losses.size() / std::max<std::size_t>(grad_norms.size(), 1);
  }
  /// The first loss, gradient norm or tensor that is further off than the tolerance; empty: none.
  std::string first_difference() const;
  bool pass() const { return first_difference().empty(); }
};

/// The run's layout on a model of the same kind and the same number of layers, but narrow, in fp32:
/// a few steps in the layout (ranks are threads) and on one rank, with dropout as the run has it.
/// Plain gradient descent, as the first steps of Adam are the signs of gradients that rounding
/// may flip.
ParityCertificate prove_parity(const config::RunConfig& run);

/// Results of a short run: the same in every layout, but for rounding.
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

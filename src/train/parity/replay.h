#pragma once
#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "autograd/parameter_list.h"
#include "comm/groups/world.h"
#include "device/device.h"
#include "train/parity/recorded_case.h"
#include "train/step/tracked_losses.h"

namespace mpitron::train {

/// Bounds of a replay's differences from the recording: relative for loss and gradient norm,
/// absolute for logits. They are larger in half precision, where rounding noise alone moves the
/// reference's own curves.
struct ReplayTolerance {
  double loss = 2e-5;
  double grad_norm = 2e-4;
  double logits = 1e-4;
  double last_logits = 1e-3;   // after training, of samples that were not learned
  double layer_losses = 1e-5;  // relative to those above 1
  double final_norms = 1e-4;   // of parameters, relative to those above 0.01
  double buffers = 0;          // absolute; 0: to the last bit

  /// Returns the bounds for a model. Rounding alone changes experts where a router's scores come
  /// from an iteration (sinkhorn) or are in half precision; so it does between two runs of the
  /// reference with other rounding.
  static ReplayTolerance of(const config::ModelConfig& model);
};

struct ReplayedIteration {
  double loss = 0, recorded_loss = 0, relative_loss = 0;
  double grad_norm = 0, relative_grad_norm = 0;  // 0 where the reference skipped the update
  double relative_logit = 0;  // of the largest attention score, where it is recorded
  bool skip_differs = false;  // one of the two skipped the update, the other did not
};

struct ReplayResult {
  std::string name;
  std::vector<ReplayedIteration> iterations;
  double max_relative_loss = 0, max_relative_grad_norm = 0, max_absolute_logits = 0;
  double max_last_logits = 0;     // after training, where they are recorded
  double max_layer_losses = 0;    // difference of losses that layers have beside the main one
  double max_relative_logit = 0;  // largest attention scores, where they are recorded
  double max_relative_norm = 0;   // of parameters at the end, likewise
  bool buffers_agree = true;      // biases of routers at the end
  bool complete = true;           // to the recorded end, so that what was recorded there counts
  ReplayTolerance tolerance;
  bool pass() const;
};

/// Trains as the recorded run did, from its weights and batches, and compares. `extra_flags` are
/// added behind the recorded ones (layout flags). Stops after `iterations`, where there are more;
/// what was recorded at the end is then not compared. All ranks call it and get the same result.
ReplayResult replay(device::Device& device, comm::World& world, RecordedCase& recorded,
                    const std::vector<std::string>& extra_flags, std::size_t iterations = SIZE_MAX);

/// Records of single layers of the reference: their own losses in each iteration (aux_losses.json;
/// of the depths of multi-token prediction losses.json) and the buffers that it ended with
/// (losses.json). Empty for dense models.
class RecordedLayers {
 public:
  /// Reads the files in `folder`; Error(data) names what is wrong.
  RecordedLayers(const std::filesystem::path& folder, const config::ModelConfig& model);

  /// Largest difference of the losses that an iteration (from 1) told from the recorded ones,
  /// relative to those above 1; infinite where one is missing.
  double difference(Index iteration, const LayerReport& layers) const;
  /// Whether the buffers that lie here hold the recorded numbers, up to `tolerance` (absolute).
  bool buffers_agree(device::Device& device, autograd::ParameterList& parameters,
                     double tolerance) const;

 private:
  using Losses = std::map<std::string, std::vector<double>>;  // by layer
  std::vector<double> as_recorded(const LayerLosses& told,
                                  const std::vector<double>& recorded) const;
  std::size_t decoder_layers_, depth_letters_;
  std::vector<Losses> losses_;  // of each iteration
  std::map<std::string, std::vector<float>> buffers_;
};

}  // namespace mpitron::train

#pragma once
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "autograd/parameter_list.h"
#include "train/step/tracked_losses.h"

namespace mpitron::train {

/// What a recorded run of the reference tells of single layers: their own losses in each iteration
/// (aux_losses.json; of the depths of multi-token prediction losses.json) and the buffers that it
/// ended with (losses.json). Empty for dense models.
class RecordedLayers {
 public:
  /// Reads the files in `folder`; Error(data) names what is wrong. `decoder_layers`: without the
  /// depths of multi-token prediction, whose routers the reference notes under its first layer.
  RecordedLayers(const std::filesystem::path& folder, Index decoder_layers);

  /// Largest difference of the losses that an iteration (from 1) told from the recorded ones,
  /// relative to those above 1; infinite where one is missing.
  double difference(Index iteration, const LayerReport& layers) const;
  /// Whether the buffers that lie here hold the recorded numbers, up to `tolerance` (absolute).
  bool buffers_agree(device::Device& device, autograd::ParameterList& parameters,
                     double tolerance) const;

 private:
  using Losses = std::map<std::string, std::vector<double>>;  // by layer
  std::size_t decoder_layers_;
  std::vector<Losses> losses_;  // of each iteration
  std::map<std::string, std::vector<float>> buffers_;
};

}  // namespace mpitron::train

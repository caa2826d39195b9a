#include <algorithm>
#include <cmath>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tensor/host_copy.h"
#include "train/parity/replay.h"
#include "utils/error.h"
#include "utils/system/files.h"

namespace mpitron::train {
namespace {

using nlohmann::json;

double difference_of(const std::vector<double>& got, const std::vector<double>& recorded) {
  if (got.size() != recorded.size()) {
    return INFINITY;
  }
  double worst = 0;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double difference = std::abs(got[i] - recorded[i]) / std::max(1.0, std::abs(recorded[i]));
    worst = std::isnan(difference) ? INFINITY : std::max(worst, difference);
  }
  return worst;
}

/// Reads the losses of the depths of multi-token prediction in one iteration.
std::vector<double> prediction_losses(const json& row) {
  std::vector<double> losses;
  const auto next = [&] { return row.find(fmt::format("mtp_{}_loss", losses.size() + 1)); };
  for (auto loss = next(); loss != row.end(); loss = next()) {
    losses.push_back(loss->get<double>());
  }
  return losses;
}

/// Brings our losses of layers into the reference's places: its transformer layer of a depth has
/// number 1 (MultiTokenPredictionLayer gives it none), and its router's losses are added to those
/// of that layer (save_to_aux_losses_tracker).
std::vector<double> as_recorded(const LayerLosses& told, std::size_t decoder_layers) {
  std::vector<double> layers = told.layers;
  for (std::size_t depth = decoder_layers;
       told.summary == LayerLosses::Summary::mean && depth < layers.size(); ++depth) {
    layers[0] += std::exchange(layers[depth], 0);
  }
  return layers;
}

}  // namespace

RecordedLayers::RecordedLayers(const std::filesystem::path& folder, Index decoder_layers)
    : decoder_layers_(static_cast<std::size_t>(decoder_layers)) {
  try {
    const json recorded = json::parse(read_file(folder / "losses.json"));
    buffers_ = recorded.value("final_buffers", std::map<std::string, std::vector<float>>{});
    for (const json& row : recorded.at("iterations")) {
      Losses& losses = losses_.emplace_back();
      if (std::vector<double> depths = prediction_losses(row); !depths.empty()) {
        losses["mtp_{} loss"] = std::move(depths);
      }
    }
    const std::filesystem::path path = folder / "aux_losses.json";
    if (!std::filesystem::exists(path)) {
      return;
    }
    const json layers = json::parse(read_file(path));
    std::size_t iteration = 0;
    for (const json& row : layers.at("per_layer_mean_over_microbatches")) {
      losses_.resize(std::max(losses_.size(), iteration + 1));
      Losses& losses = losses_[iteration++];
      for (const auto& [name, values] : row.items()) {
        if (name != "iteration") {
          losses[name] = values.get<std::vector<double>>();
        }
      }
    }
  } catch (const json::exception& error) {
    throw_data("{}: not a recorded run: {}", folder.string(), error.what());
  }
}

double RecordedLayers::difference(Index iteration, const LayerReport& layers) const {
  const auto place = static_cast<std::size_t>(iteration - 1);
  if (place >= losses_.size()) {
    return 0;
  }
  double worst = 0;
  for (const auto& [name, recorded] : losses_[place]) {
    const auto told = std::ranges::find(layers.losses, name, &LayerLosses::name);
    // The reference keeps a row of zeros for a loss that an earlier run of its process had.
    const std::vector<double> computed = told == layers.losses.end()
                                             ? std::vector<double>(recorded.size(), 0)
                                             : as_recorded(*told, decoder_layers_);
    const bool absent = told == layers.losses.end() && std::ranges::count(recorded, 0) == 0;
    worst = std::max(worst, absent ? INFINITY : difference_of(computed, recorded));
  }
  return worst;
}

/// Compares buffers of layers, which are recorded; a centre of outputs shows in the losses.
bool RecordedLayers::buffers_agree(device::Device& device, autograd::ParameterList& parameters,
                                   double tolerance) const {
  const auto near = [tolerance](double a, double b) { return std::abs(a - b) <= tolerance; };
  return std::ranges::all_of(parameters.buffers(), [&](const autograd::Buffer& buffer) {
    if (buffer.layer == 0) {
      return true;
    }
    const auto recorded = buffers_.find(buffer.name);
    const tensor::Tensor value = tensor::to_host(device, buffer.value);
    return recorded != buffers_.end() &&
           std::ranges::equal(
               recorded->second,
               std::span(value.data<float>(), static_cast<std::size_t>(value.shape().numel())),
               near);
  });
}

}  // namespace mpitron::train

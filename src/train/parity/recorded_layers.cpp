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

}  // namespace

RecordedLayers::RecordedLayers(const std::filesystem::path& folder,
                               const config::ModelConfig& model)
    : decoder_layers_(static_cast<std::size_t>(model.num_layers)),
      depth_letters_(model.hybrid.depth_pattern.size()) {
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

/// Brings our losses of layers into the reference's places (save_to_aux_losses_tracker). Where it
/// counts the layers of a depth from 1 (release 0.14; letters), its routers' losses are added to
/// those of the decoder's layer with that number; later releases give a depth without letters a
/// place of its own.
std::vector<double> RecordedLayers::as_recorded(const LayerLosses& told,
                                                const std::vector<double>& recorded) const {
  std::vector<double> layers = told.layers;
  const auto depths = static_cast<std::ptrdiff_t>(std::min(decoder_layers_, recorded.size()));
  const bool own_places =
      std::any_of(recorded.begin() + depths, recorded.end(), [](double loss) { return loss != 0; });
  if (told.summary == LayerLosses::Summary::each || own_places) {
    return layers;
  }
  const std::size_t in_depth = std::max<std::size_t>(1, depth_letters_);
  for (std::size_t i = decoder_layers_; i < layers.size(); ++i) {
    layers[(i - decoder_layers_) % in_depth] += std::exchange(layers[i], 0);
  }
  if (depth_letters_ > 0) {
    layers.resize(recorded.size());  // which has one place for each depth
  }
  return layers;
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
                                             : as_recorded(*told, recorded);
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
    const auto recorded = buffers_.find(name_in_record(
        buffer.name, [this](const std::string& name) { return buffers_.contains(name); }));
    const tensor::Tensor value = tensor::to_host(device, buffer.value);
    return recorded != buffers_.end() &&
           std::ranges::equal(
               recorded->second,
               std::span(value.data<float>(), static_cast<std::size_t>(value.shape().numel())),
               near);
  });
}

}  // namespace mpitron::train

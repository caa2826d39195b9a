#pragma once
#include <memory>

#include "models/base/model.h"

namespace mpitron::models {

/// The model of `config.kind`: a rank's part of it, or all of it, as `share` says.
std::unique_ptr<Model> make_model(const config::ModelConfig& config, device::Device& device,
                                  Model::Share share);

}  // namespace mpitron::models

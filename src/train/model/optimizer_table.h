#pragma once
#include <string>

#include "config/run_config.h"
#include "device/device.h"
#include "models/base/model.h"
#include "optim/parameter_group.h"

namespace mpitron::train {

/// Returns the traits that the grouping of the optimizer looks at.
optim::ParameterTraits traits_of(const autograd::Parameter& parameter);

/// Formats which parameters of the whole model each update rule takes, a line for each name, layers
/// and experts under one: " > muon updates decoder.layers.*.mixer.in_proj.weight [66, 16], 2
/// times".
std::string optimizer_table(const config::RunConfig& config, device::Device& device);

}  // namespace mpitron::train

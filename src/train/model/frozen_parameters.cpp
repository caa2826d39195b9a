#include "train/model/frozen_parameters.h"

namespace mpitron::train {

void freeze_parameters(const config::ModelConfig& config, autograd::ParameterList& parameters) {
  for (autograd::Parameter& parameter : parameters) {
    if (config.lora) {
      parameter.role.frozen = !parameter.role.low_rank;
      continue;
    }
    const bool table = parameter.name.starts_with("embedding.");
    const bool asked = parameter.placement.unit == 0
                           ? table && config.frozen.embeddings
                           : config.frozen.has_layer(parameter.placement.unit);
    parameter.role.frozen = parameter.role.frozen || asked;
  }
}

}  // namespace mpitron::train

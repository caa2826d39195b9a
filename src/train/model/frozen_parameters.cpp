#include "train/model/frozen_parameters.h"

namespace mpitron::train {

void freeze_parameters(const config::ModelConfig& config, autograd::ParameterList& parameters) {
  for (autograd::Parameter& parameter : parameters) {
    if (config.lora) {
      parameter.frozen = !parameter.low_rank;
      continue;
    }
    const bool table = parameter.name.starts_with("embedding.");
    const bool asked = parameter.unit == 0 ? table && config.frozen.embeddings
                                           : config.frozen.has_layer(parameter.unit);
    parameter.frozen = parameter.frozen || asked;
  }
}

}  // namespace mpitron::train

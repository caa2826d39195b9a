#pragma once
#include "config/model_config.h"

namespace mpitron::nn {

/// Part of a model that one chunk of a pipeline stage holds.
struct ModelPart {
  Index first_layer = 0;  // global, from 0
  Index num_layers = 0;
  bool has_embedding = true;
  bool has_output = true;       // final norm and output layer
  Index prediction_depths = 0;  // of multi-token prediction; only where the output is
  bool looks_up_words() const { return has_embedding || prediction_depths > 0; }
};

inline ModelPart whole_model(const config::ModelConfig& config) {
  return {.num_layers = config.all_layers(),
          .prediction_depths = config.mtp_num_layers.value_or(0)};
}

}  // namespace mpitron::nn

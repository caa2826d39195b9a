#pragma once
#include "autograd/parameter_list.h"
#include "config/model_config.h"

namespace mpitron::train {

/// Marks what keeps its values: everything but factors of low-rank updates where the model has
/// some, else the layers and tables of `config.frozen` beside what the model has marked.
void freeze_parameters(const config::ModelConfig& config, autograd::ParameterList& parameters);

}  // namespace mpitron::train

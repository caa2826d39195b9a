#pragma once
#include <string>

#include "train/model/trained_model.h"
#include "train/step/train_step.h"

namespace mpitron::train {

/// "parameters hold 12 MiB, gradients 24 MiB, ...": who keeps how much of the device's memory for
/// the whole run. What is in use beyond that are activations and scratch memory.
std::string memory_holders(TrainedModel& model, TrainStep& step);

}  // namespace mpitron::train

#pragma once
#include <functional>
#include <memory>
#include <string>

#include "train/step/train_step.h"

namespace mpitron::train {

/// Weights in another program's files, which a run begins with in place of a checkpoint.
struct ForeignWeights {
  std::string path;
  Index vocabulary_rows = 0;  // of the embedding
  std::function<bool(const std::string& parameter)> has;
  /// Calls use(whole tensor) with memory of the host, of any type and at any address.
  std::function<void(const std::string& parameter,
                     const std::function<void(device::ConstTensorView)>& use)>
      read;
  std::function<std::string()> fingerprint;  // of all tensors
};

/// Fills this rank's parameters but those of low-rank updates; those of a head of texts that the
/// files lack stay as they are. Error(data) lists tensors that are missing or of another shape.
void load_foreign_weights(TrainedModel& model, TrainStep& step, const ForeignWeights& weights);

/// This rank's part of a stored tensor becomes the parameter's value, in its type.
void take_values(device::Device& device, const device::ConstTensorView& stored,
                 autograd::Parameter& parameter);

}  // namespace mpitron::train

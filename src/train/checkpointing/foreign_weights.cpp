#include "train/checkpointing/foreign_weights.h"

#include "kernels/elementwise/elementwise.h"
#include "tensor/host_copy.h"
#include "train/checkpointing/load_differences.h"
#include "utils/error.h"
#include "utils/log.h"

namespace mpitron::train {

void take_values(device::Device& device, const device::ConstTensorView& stored,
                 autograd::Parameter& parameter) {
  const tensor::Tensor local = tensor::empty_on_host(device, parameter.value.shape(), stored.dtype);
  tensor::take_shard(stored, parameter.placement.shard, local.view());
  const tensor::Tensor values = tensor::to_device(device, local);
  device::launch(device.stream(), kernels::Cast{.x = values.view(), .y = parameter.value.view()});
}

void load_foreign_weights(TrainedModel& model, TrainStep& step, const ForeignWeights& weights) {
  const bool new_head = model.chunk(0).config().text_head.has_value();
  std::string problems, fresh;
  for (autograd::Parameter& parameter : model.parameters()) {
    if (parameter.role.low_rank) {
      continue;
    }
    if (!weights.has(parameter.name)) {
      const bool begins_anew = new_head && is_of_a_head("model/" + parameter.name);
      (begins_anew ? fresh : problems) +=
          begins_anew ? " " + parameter.name : "\n  missing: " + parameter.name;
      continue;
    }
    weights.read(parameter.name, [&](const device::ConstTensorView& stored) {
      if (stored.shape == parameter.shape) {
        take_values(step.device(), stored, parameter);
      } else {
        problems += fmt::format("\n  {}: stored {}, here {}", parameter.name,
                                to_string(stored.shape), to_string(parameter.shape));
      }
    });
  }
  if (!problems.empty()) {
    throw_data(
        "{} does not fit this run:{}\n--use-checkpoint-args takes the model's options from "
        "there",
        weights.path, problems);
  }
  step.values_loaded(false);
  log::print(fmt::format("  weights from {}{}", weights.path,
                         fresh.empty() ? "" : "; begin anew:" + fresh));
}

}  // namespace mpitron::train

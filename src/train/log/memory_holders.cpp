#include "train/log/memory_holders.h"

#include <fmt/format.h>

namespace mpitron::train {

std::string memory_holders(TrainedModel& model, TrainStep& step) {
  Index parameters = 0, gradients = 0;
  for (const autograd::Parameter& parameter : model.parameters()) {
    parameters += parameter.value.view().bytes();
    gradients += parameter.main_grad.view().bytes();
  }
  const Index in_8_bits = step.fp8_weights().bytes();
  return fmt::format(
      "parameters hold {} MiB, {}gradients {} MiB, the optimizer {} MiB; what else is in use are "
      "activations and scratch memory",
      parameters >> 20,
      in_8_bits > 0 ? fmt::format("their numbers of 8 bits {} MiB, ", in_8_bits >> 20) : "",
      gradients >> 20, step.optimizer().device_bytes() >> 20);
}

}  // namespace mpitron::train

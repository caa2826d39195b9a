#include "train/memory_holders.h"

#include <fmt/format.h>

namespace mpitron::train {
namespace {

/// Adds up what it is shown.
class BytesOfState final : public tensor::StateVisitor {
 public:
  void tensor(const tensor::ShardedTensor& tensor) override { bytes_ += tensor.value.bytes(); }
  void number(const std::string&, Index&) override {}
  void number(const std::string&, double&) override {}
  void text(const std::string&, std::string&) override {}
  Index bytes() const { return bytes_; }

 private:
  Index bytes_ = 0;
};

}  // namespace

std::string memory_holders(TrainedModel& model, TrainStep& step) {
  Index parameters = 0, gradients = 0;
  for (const autograd::Parameter& parameter : model.parameters()) {
    parameters += parameter.value.view().bytes();
    gradients += parameter.main_grad.view().bytes();
  }
  BytesOfState optimizer;
  step.visit_optimizer(optimizer);
  return fmt::format(
      "parameters hold {} MiB, gradients {} MiB, the optimizer {} MiB; what else is in use are "
      "activations and scratch memory",
      parameters >> 20, gradients >> 20, optimizer.bytes() >> 20);
}

}  // namespace mpitron::train

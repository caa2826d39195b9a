#pragma once
#include "autograd/parameter_list.h"
#include "config/model_config.h"
#include "device/device.h"
#include "tensor/state.h"

namespace mpitron::train {

// Upcycling (He et al. 2024, arXiv 2410.07524; upcycling_utils.py of the reference): the weights of
// a dense model become those of a model with experts. Every MLP is cut into G parts along its inner
// width; expert e is part e % G, so that experts e / G of equal value are one whole MLP. Routers
// are new; the experts of a whole have equal rows, so that a token chooses them together. Weights
// of experts grow so that the sum over the chosen ones is as large as the dense MLP's output.

/// Gives every run of `parts` experts the same row of their router, its first values.
void group_router_rows(device::Device& device, autograd::ParameterList& parameters, Index parts);

/// Describes a model with experts to `dense`, a visitor that loads, as the dense model from which
/// it is made. Routers, shared experts and histories of 8-bit scales are not there: they keep their
/// first values.
class DenseView final : public tensor::StateVisitor {
 public:
  /// `model`: the one with experts; `parts`: G.
  DenseView(tensor::StateVisitor& dense, const config::ModelConfig& model, Index parts)
      : dense_(dense), model_(model), parts_(parts) {}

  void tensor(const tensor::ShardedTensor& tensor) override;
  void number(const std::string& name, Index& value) override { dense_.number(name, value); }
  void number(const std::string& name, double& value) override { dense_.number(name, value); }
  void text(const std::string& name, std::string& value) override { dense_.text(name, value); }

  /// Once the values are loaded: multiplies those of experts.
  void scale_experts(device::Device& device) const;

 private:
  tensor::StateVisitor& dense_;
  const config::ModelConfig& model_;
  Index parts_;
  std::vector<tensor::TensorView> experts_;
};

/// Returns the factor by which both matrices of an expert are multiplied.
double expert_scale(const config::ModelConfig& model, Index parts);

}  // namespace mpitron::train

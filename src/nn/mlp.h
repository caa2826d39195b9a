#pragma once
#include "autograd/renewable.h"
#include "nn/branch.h"
#include "nn/builder.h"
#include "ops/activation.h"

namespace mpitron::nn {

/// linear_fc1, activation (gated or not), linear_fc2.
class Mlp {
 public:
  explicit Mlp(const Builder& builder);

  BranchOutput forward(autograd::Context& context, const autograd::Renewable& x) const;
  Parameter* output_bias() const { return fc2_bias_; }

 private:
  ops::TensorParallel shared_;
  ops::ActivationSettings activation_;
  Parameter* fc1_weight_;
  Parameter* fc1_bias_;
  Parameter* fc2_weight_;
  Parameter* fc2_bias_;
};

}  // namespace mpitron::nn

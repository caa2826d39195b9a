#pragma once
#include "autograd/renewable.h"
#include "nn/branch.h"
#include "nn/builder.h"
#include "ops/activation.h"

namespace mpitron::nn {

/// What `--swiglu`, `--squared-relu` and `--openai-gelu` ask for.
ops::ActivationSettings activation_settings(const config::ModelConfig& config);

/// linear_fc1, activation (gated or not), linear_fc2.
class Mlp {
 public:
  /// `ffn`: the inner width.
  Mlp(const Builder& builder, Index ffn);
  /// Of the width that the model's MLPs have.
  explicit Mlp(const Builder& builder) : Mlp(builder, builder.config().ffn_hidden_size) {}

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

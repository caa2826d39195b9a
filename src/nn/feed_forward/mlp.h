#pragma once
#include "nn/base/builder.h"
#include "nn/base/layer_parts.h"
#include "nn/base/low_rank_updates.h"
#include "ops/elementwise/activation.h"

namespace mpitron::nn {

/// Returns the settings of the op for a model's activation.
ops::ActivationSettings activation_settings(const config::ActivationConfig& config);

/// linear_fc1, activation (gated or not), linear_fc2.
class Mlp final : public FeedForward {
 public:
  /// `ffn`: the inner width.
  Mlp(const Builder& builder, Index ffn);
  /// Builds a network of the width that the model's MLPs have.
  explicit Mlp(const Builder& builder) : Mlp(builder, builder.config().ffn_hidden_size) {}

  BranchOutput forward(autograd::Context& context, const autograd::Recomputable& x) const override;
  Parameter* output_bias() const override { return fc2_bias_; }

 private:
  void make_updates(const Builder& builder, Index ffn);

  ops::TensorParallel shared_;
  ops::ActivationSettings activation_;
  Parameter* fc1_weight_;
  Parameter* fc1_bias_;
  Parameter* fc2_weight_;
  Parameter* fc2_bias_;
  LowRankUpdates fc1_updates_, fc2_updates_;
};

}  // namespace mpitron::nn

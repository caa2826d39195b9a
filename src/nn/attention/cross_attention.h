#pragma once
#include "autograd/recomputable.h"
#include "nn/base/branch.h"
#include "nn/base/builder.h"
#include "nn/base/layer_inputs.h"
#include "ops/attention/attention.h"

namespace mpitron::nn {

/// Attention of a decoder's layer to the encoder's output: linear_q of the decoder, linear_kv of
/// the encoder, softmax attention without positions, linear_proj (Vaswani et al. 2017).
class CrossAttention {
 public:
  /// `layer_number` is global and starts at 1. The tensor parallel ranks share whole query groups.
  CrossAttention(const Builder& builder, Index layer_number);

  /// x [s, b, h], [s, b, h] out; of the inputs the memory, which must be there.
  BranchOutput forward(autograd::Context& context, const autograd::Recomputable& x,
                       const LayerInputs& inputs) const;
  /// Keeps the keys and values of an encoder's output, [s, 1, h], in the encoder's pass.
  void keep_encoded(autograd::Context& context, const autograd::Var& memory) const;

 private:
  autograd::Var keys_values(autograd::Context& context, const autograd::Var& memory) const;

  ops::TensorParallel shared_;
  ops::AttentionSettings settings_;
  double attention_dropout_;
  std::uint32_t layer_number_;
  // The reference creates linear_proj first.
  Parameter* proj_weight_;
  Parameter* proj_bias_;
  Parameter* q_weight_;
  Parameter* q_bias_;
  Parameter* kv_weight_;
  Parameter* kv_bias_;
};

}  // namespace mpitron::nn

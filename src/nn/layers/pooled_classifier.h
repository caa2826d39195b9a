#pragma once
#include "autograd/context.h"
#include "nn/base/builder.h"

namespace mpitron::nn {

/// Classes of a whole sample: dense and tanh on the first position, then one more dense layer
/// (Devlin et al. 2019).
class PooledClassifier {
 public:
  /// What a layer is called, and how its weight and bias start.
  struct Layer {
    std::string name;
    autograd::Initialization weight, bias = {};
  };
  PooledClassifier(const Builder& builder, Index classes, const Layer& pooler, const Layer& head);

  /// [1, b, classes] of x [s, b, h]; every tensor parallel rank gets the same.
  autograd::Var forward(autograd::Context& context, const autograd::Var& x) const;

 private:
  ops::TensorParallel shared_;
  // The reference creates the head before the pooler.
  Parameter* head_weight_;
  Parameter* head_bias_;
  Parameter* pooler_weight_;
  Parameter* pooler_bias_;
};

}  // namespace mpitron::nn

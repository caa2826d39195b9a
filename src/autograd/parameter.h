#pragma once
#include <string>
#include <vector>

#include "autograd/var.h"

namespace mpitron::autograd {

/// How a parameter starts; its values depend on the seed and its global name only.
struct Initialization {
  enum class Kind { zeros, ones, normal, xavier_uniform } kind = Kind::zeros;
  double std = 0;  // normal
};

/// A trained tensor: its value in the model's type, and the sink of its gradients.
struct Parameter {
  std::string name;  // global, as the reference names it: decoder.layers.3.mlp.linear_fc1.weight
  Shape shape;       // global
  Initialization initialization;
  bool linear_weight =
      false;  // of a linear layer: its gradient may be added in fp32 by the product itself
  bool embedding_or_output = false;  // its learning rate may be decoupled
  // A tied weight that another pipeline stage holds as well, and counts in norms.
  bool counted_elsewhere = false;
  Tensor value;
  Tensor main_grad;  // a part of the gradient buffer; fp32, or fp16 where the reference adds in
                     // half precision
  bool round_gradient =
      false;  // each microbatch's gradient is rounded to value's type before it is added
  bool gradient_written =
      false;  // in this step; the first write is `=`, so that nothing needs zeroing
};

/// The parameters that a tape (one chunk, one microbatch) used, once each. A gradient bucket is
/// ready when every tape that uses one of its parameters has finished its backward pass; whoever
/// runs the tapes knows that. Uses are not counted one by one: a tied weight inside several
/// recomputed blocks would look finished too early.
using ParameterUses = std::vector<Parameter*>;

}  // namespace mpitron::autograd

#pragma once
#include "tensor/tensor.h"
#include "utils/numbers/float8.h"

namespace mpitron::autograd {

using tensor::Tensor;

struct Buffer;

/// The numbers of 8 bits of a weight that all microbatches of a pass multiply by: made by the first
/// product that takes them. Scales are those that the weight has without this.
struct KeptFp8Weight {
  Tensor values, transposed;  // [out, in], [in, out]; u8
  Tensor amax;                // what their scales follow from; absent where a history tells
  bool has_values = false, has_transposed = false, has_amax = false;  // in the pass under way
};

/// How the factors of a linear layer's products are brought to 8 bits (Micikevicius et al. 2022).
/// Inputs and weights are e4m3.
struct Fp8Products {
  enum class Scaling {
    current,  // by the largest value of the tensor itself
    delayed,  // by those of the steps before
    blocks    // by those of 1 x 128 numbers of inputs and gradients, of 128 x 128 of weights
  };
  /// The factors that have histories, in the order of a history's rows.
  enum Role { input, weight, gradient };
  static constexpr Index kRoles = 3;
  /// Extent of a block of Scaling::blocks, where it is more than one number.
  static constexpr Index kBlock = 128;

  Scaling scaling = Scaling::delayed;
  Fp8Format gradient_format = Fp8Format::e4m3;
  int margin = 0;                 // of delayed scales
  bool weight_gradient = true;    // its product takes factors of 8 bits, too
  Buffer* history = nullptr;      // of delayed scales: kernels/linear/fp8_quantize.h
  Tensor amax = {};               // [kRoles], of the step under way; absent: nobody wants to know
  KeptFp8Weight* kept = nullptr;  // absent: each product makes the weight's numbers anew
};

}  // namespace mpitron::autograd

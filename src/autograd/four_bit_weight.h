#pragma once
#include "tensor/tensor.h"

namespace mpitron::autograd {

using tensor::Tensor;

struct Context;
struct Parameter;

/// A linear weight that is kept, in 4 bits in place of its value, under low-rank updates that are
/// trained (Dettmers et al. 2023). Contract: kernels/linear/normal_float.h.
struct FourBitWeight {
  Tensor codes, scales;      // [out, in / 2], [out, in / 64]; absent until it is packed
  DType dtype = DType::f32;  // of the value that they were made of

  Shape shape() const { return {codes.shape()[0], 2 * codes.shape()[1]}; }
  Index bytes() const { return codes.view().bytes() + scales.view().bytes(); }
};

/// Gives a parameter that is kept in 4 bits its codes and scales in place of its value; others keep
/// theirs. Error(usage) where 64 does not divide the weight's inputs on this rank.
void pack_kept_weight(device::Device& device, Parameter& parameter);
/// Gives a packed one memory for a value again, to be filled, and packed once more.
void open_kept_weight(device::Device& device, Parameter& parameter);

/// Returns what a product multiplies with: the weight's value or, of one in 4 bits, its numbers in
/// the type that it had, unpacked for this product. Both directions of a layer have the same.
Tensor weight_numbers(Context& context, const Parameter& weight);

}  // namespace mpitron::autograd
